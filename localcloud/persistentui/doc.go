// Package persistentui keeps the Spark event logs of clusters and shows them, as EMR's
// persistent application user interfaces do: a copy of each log leaves HDFS while the
// cluster runs and once more at its end, and stays for 30 days. It also serves the
// live pages of running clusters.
//
// Behind it is Spark's own history server, one for each cluster whose UI is open,
// started by a request and stopped when it has been idle. In front of it is what EMR
// has there: a URL that opens a page once and for a while, and a cookie that expires.
//
// Package emrapi has EMR's operations on UIs. This package knows neither them nor the
// machines of clusters; a file in its folder makes it fail on purpose (see Fault).
package persistentui
