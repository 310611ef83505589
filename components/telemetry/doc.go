// Package telemetry stages in the data bucket what machines install: the
// artifacts of the EMR nodes, the bootstrap action that installs them, and the
// project's own binary for the control node.
//
// Objects are content-addressed (platform.ArtifactKey): an edit creates a new one
// and retains the old one. A node fetches what its cluster was started with whenever
// EMR adds it, and clusters of other stacks, which start with this stack's outputs,
// outlive the edit. The provider would delete every version of a replaced object
// (terraform-provider-aws, s3/object.go, resourceObjectDelete), so that the bucket's
// versioning would keep none. Retained objects are no longer in the state. They go
// with the bucket of an ephemeral stack, or by hand (docs/guides/artifacts.md).
//
// They have no encryption settings, since the bucket's default applies, the stack's
// key. They have no etag either: with SSE-KMS it is not the content's MD5, and would
// always differ.
//
// The bootstrap action is uploaded after everything that it downloads, and
// BootstrapPath and BootstrapArgs resolve after that, so that no cluster can start
// too early.
//
// It builds and downloads nothing; package artifacts does.
package telemetry
