package platform

import "time"

// How often values are measured. The first is the scrape interval of Grafana's
// datasource, so that $__rate_interval spans at least four samples.
const (
	CollectionInterval       = 10 * time.Second // host metrics and the JVMs' export
	DaemonCollectionInterval = 30 * time.Second // /prom of YARN and HDFS daemons
)

// LauncherExitTimeout is how long the launcher may delay the end of a JVM. What it has
// not sent by then is lost. A YARN container gets 250 ms after SIGTERM by default
// (yarn.nodemanager.sleep-delay-before-sigkill.ms), so only JVMs that end by themselves
// have all of it.
const LauncherExitTimeout = 2 * time.Second

// AllocationSampleMiB is how much a JVM allocates between two samples of its
// allocation profile. A sample takes some ten microseconds: a job that allocates
// 30 GB has 15000.
const AllocationSampleMiB = 2

// Tempo's write-ahead log. A block takes spans for TempoMaxBlockDuration, which is
// also what the loss of the data volume may cost; the times of spans are cut off
// where they differ from the clock by more than TempoIngestionSlack.
const (
	TempoMaxBlockDuration = 15 * time.Minute
	TempoIngestionSlack   = 2 * time.Minute
)
