// Package localcloud runs the platform's cloud on one machine: Pulumi provider
// servers in front of real servers and nodes, in one region of Linux namespaces.
// Serve is the region's process; Start, Stop and Find are for programs outside.
//
// It sees only what the engine sends to the providers and what clients send to
// S3's and EMR's APIs, as AWS would: it imports no component of the platform.
//
// Real: S3 (VersityGW) with what the inline policies of roles allow in it, EMR
// (bootstrap actions, HDFS, YARN, Spark, steps), Kubernetes workloads (as
// processes), certificates, passwords. Recorded only: everything else of IAM, KMS,
// security groups, EC2 beyond addresses and machines, the Grafana server.
package localcloud
