// Package persistentui keeps the Spark event logs of clusters and serves them as EMR's
// persistent application user interfaces do: each log is copied out of HDFS while the
// cluster runs and once more at its end, and kept for 30 days. The package also serves the
// live pages of running clusters.
//
// Behind it runs Spark's own history server, one for each cluster whose UI is open,
// started on request and stopped when idle. In front of it is the access control that EMR
// has: a single-use presigned URL that expires, and a session cookie that expires, too.
//
// Package emrapi has EMR's operations on UIs. This package knows neither them nor the
// machines of clusters. A file in its folder injects faults (see Fault).
package persistentui
