// Package platform defines the facts that several parts of the observatory share:
// one record per workload and per node part, label names, ports, S3 prefixes, paths
// and pins. Each is defined once; scripts, YAML, dashboards and docs are rendered
// from these values.
//
// It has no behaviour: it imports nothing of the project and does no I/O.
package platform

// Name is the project's name: the Pulumi package of its component tokens, the
// Kubernetes namespace, and the prefix of what it installs on machines.
const Name = "observatory"

// Project is the name of the Pulumi project (Pulumi.yaml) and so the
// namespace of its configuration keys.
const Project = "emr-observatory"

// SourceURL is where the project's files are shown, those of docs among them.
const SourceURL = "https://github.com/emr-observatory/emr-observatory/blob/main/"
