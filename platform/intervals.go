package platform

import "time"

// How often values are measured. Grafana's datasource takes the first as its
// scrape interval, so that $__rate_interval spans at least four samples.
const (
	CollectionInterval       = 10 * time.Second // host metrics and the JVMs' export
	DaemonCollectionInterval = 30 * time.Second // /prom of YARN and HDFS daemons
)

// AllocationSampleMiB is how much a JVM allocates from one sample of its
// allocation profile to the next. Each takes some ten microseconds: a job that
// allocates 30 GB has 15000.
const AllocationSampleMiB = 2
