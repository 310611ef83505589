// Package telemetry stages in the data bucket what machines install: the
// artifacts of the EMR nodes, the bootstrap action that installs them, and the
// project's own binary for the control node.
//
// Objects are content-addressed (platform.ArtifactKey): an edit creates a new one,
// and nodes of a running cluster find the old one until the cluster is replaced.
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
