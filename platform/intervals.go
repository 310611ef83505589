package platform

import "time"

// How often values are measured. Grafana's datasource takes the first as its
// scrape interval, so that $__rate_interval spans at least four samples.
const (
	CollectionInterval       = 10 * time.Second // host metrics and the JVMs' export
	DaemonCollectionInterval = 30 * time.Second // /prom of YARN and HDFS daemons
)
