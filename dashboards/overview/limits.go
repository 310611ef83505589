package overview

// Limits at which a value is coloured. A busy processor is what a team pays
// for, so its colour is no alarm.
const (
	shareHigh, shareFull    = 0.8, 0.9       // memory, heap: hadoop-mixin, awesome-prometheus-alerts
	diskWarn, diskBad       = 0.8, 0.9       // YARN gives a directory up at 90 % (yarn-default.xml)
	waitWarn, waitBad       = 0.1, 0.25      // waiting for disks: awesome-prometheus-alerts
	latencyWarn, latencyBad = 0.05, 0.1      // seconds per operation: node-mixin
	loadWarn, loadBad       = 2, 4           // runnable threads per core: awesome-prometheus-alerts
	gcWarn, gcBad           = 0.05, 0.1      // share of wall time in collections
	queueWarn, queueBad     = 0.6, 0.8       // collector queue: awesome-prometheus-alerts
	hdfsLow, hdfsVeryLow    = 0.2, 0.1       // HDFS space left: hadoop-mixin
	waitingWarn, waitingBad = 10_000, 30_000 // milliseconds until an application master runs
	anyAtAll                = 1
)
