// Package telemetry stages in the data bucket what machines install: the
// artifacts of the EMR nodes, the bootstrap action that installs them, and the
// binary that the control node runs of this project.
//
// Every object is content-addressed (platform.ArtifactKey), so that an edit is
// a new object and nodes of a running cluster still find the old one until the
// cluster is replaced. Objects carry no encryption settings: the bucket's
// default, the stack's key, applies to all of them. Nor an etag: with SSE-KMS
// it is not the content's MD5, and would differ for ever.
//
// The bootstrap action is an object only after all that it downloads are, and
// BootstrapPath and BootstrapArgs resolve only after it is: who starts a
// cluster with them cannot be too early.
//
// It builds and downloads nothing; the artifacts package has done that.
package telemetry
