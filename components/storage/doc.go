// Package storage creates what outlives the machines: the data bucket with the
// platform's whole S3 layout, the bucket of its access logs, and the key that
// encrypts both the data and the machines' disks.
//
// Both buckets have versioning, enforced ownership, no public access, and accept
// only TLS. The data bucket is encrypted with the stack's key and refuses any
// other; the log bucket with S3's own, because S3 delivers access logs to no
// bucket with another.
//
// Buckets and key are protected, and retained when the stack is destroyed together
// with every setting of the buckets, unless the stack is ephemeral: then everything
// is deleted with its content.
//
// No lifecycle rule deletes what something still reads: Tempo and Pyroscope delete
// their own blocks at the end of their retention, and nodes and pods fetch current
// artifacts at each start. The package grants nobody access; the components that
// own roles do.
package storage
