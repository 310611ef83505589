// Package platform holds the facts that more than one part of the
// observatory needs to agree on: label names, ports, S3 prefixes, paths on a
// node, image pins. Each stands here once; scripts, YAML, dashboards and docs
// are rendered from these values.
//
// It is not a place for behaviour: it imports nothing of the project, opens
// nothing and decides nothing.
package platform

// Name is the project's name: the Pulumi package of its component tokens, the
// Kubernetes namespace, and the prefix of what it installs on machines.
const Name = "observatory"

// Project is the name of the Pulumi project (Pulumi.yaml) and so the
// namespace of its configuration keys.
const Project = "emr-observatory"
