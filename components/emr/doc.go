// Package emr is an EMR cluster on EC2 that reports on itself: primary and
// core instance groups, an optional task group, the roles they run with, the
// security configuration, Spark and Hadoop settings, and the bootstrap action
// that installs the observatory's parts.
//
// Its roles are its own and narrow: the service role has EMR's v2 managed
// policy, may pass the node role and nothing else, and may use the key only
// for disks; the node role reads artifacts/, writes emr-logs/, works in lake/
// and is reached through Session Manager instead of SSH. It has no managed
// policy: jobs run with it, and AWS's own for Systems Manager would let them
// read every parameter of the account.
//
// It also sets the account's block of public clusters in the region, to AWS's
// own default.
//
// Replacement: most edits replace the cluster (release, applications, Spark
// defaults, groups' types, bootstrap arguments, among them the content hash of
// what is installed). Counts of core and task, idle timeout, termination
// protection and tags are changed in place.
//
// It protects nothing in Pulumi: a cluster's data is in S3. EMR's own
// termination protection is an argument; while it is on, EMR refuses to end
// the cluster, so switch it off and update before a destroy.
//
// Left for later: instance fleets, scaling policies, encryption in transit.
// Each would be one more file beside groups.go.
package emr
