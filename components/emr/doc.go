// Package emr creates an EMR cluster on EC2 with telemetry: primary and core
// instance groups, an optional task group, their roles, the security
// configuration, Spark and Hadoop settings, and the bootstrap action that
// installs the observatory's parts.
//
// YARN containers of Docker's get the observatory's folder mounted, so that jobs
// which choose Docker start with the agent too.
//
// Its roles have few permissions. The service role has EMR's v2 managed policy,
// may pass only the node role, and may use the key only for disks. The node role
// reads artifacts/, writes emr-logs/, works in lake/ except its history/, which it
// only reads, and allows Session Manager in place of SSH. It has no managed policy: jobs run with it, and AWS's own for
// Systems Manager would let them read every parameter of the account.
//
// If asked to, it also makes EMR block public clusters in the account and region. It
// never loosens that, nor undoes it.
//
// Replacement: most edits replace the cluster (release, applications, Spark
// defaults, groups' types, bootstrap arguments including the content hash of
// what is installed). Counts of core and task, idle timeout, termination
// protection and tags are changed in place.
//
// Pulumi protects nothing here: a cluster's data is in S3. EMR's own termination
// protection is an argument; while it is on, EMR refuses to terminate the
// cluster, so switch it off and update before a destroy.
package emr
