// Package localcloud runs the platform's cloud on one machine: Pulumi provider
// servers in front of real servers and nodes, in one region of Linux namespaces.
// Serve is the region's process; Start, Stop and Find are for programs outside.
//
// It sees only what the engine sends to the providers and what clients send to
// S3's and EMR's APIs, as AWS would: it imports no component of the platform.
//
// Real: S3 (VersityGW) with what the policies of roles allow in it, EMR
// (bootstrap actions, HDFS, YARN, Spark, steps), Kubernetes workloads (as
// processes), certificates, passwords, and the way from an operator to the control
// node: Elastic IP, internet gateway, route and ingress rules. RecordedOnly lists
// what is neither run nor enforced.
//
// Whose connections are whose: the program's gate, the Kubernetes and Grafana
// providers and the status page's forwarder connect from the operator's
// workstation (package internet), which reaches public addresses only. Everything
// else that this process opens is the cloud's own (the kubelet's probes, EMR to its
// nodes, ports to pods), or a shortcut from the host's 127.0.0.1 to services that
// nobody outside the VPC reaches on AWS.
package localcloud
