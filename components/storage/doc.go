// Package storage keeps what must outlive machines: the data bucket with the
// platform's whole S3 layout, the bucket of its access logs, and the key that
// encrypts both the data and the machines' disks.
//
// Both buckets: versions kept, owner enforced, no public access, TLS only. The
// data bucket is encrypted with the own key and refuses any other; the log
// bucket with S3's, for S3 delivers access logs to nothing else.
//
// Buckets and key are protected and stay when the stack goes, unless the stack
// is ephemeral: then everything goes, with its content.
//
// It never expires what a server still reads: Tempo and Pyroscope delete their
// own blocks when their retention is over, and a rule that would be faster is
// refused. It grants nobody access: that is for the components that own roles.
package storage
