// Package redelivery relays OTLP from the control node's collector to its stores,
// and resends what a killed store had acknowledged but not yet written.
//
// VictoriaMetrics, VictoriaLogs and Tempo acknowledge a request before its data is
// on disk, and none of them has a log to replay for that interval. The collector
// forgets a request once it is acknowledged. So the relay buffers each request for
// as long as the store may need to write it, and a little longer (Settled). The
// time is counted in heartbeats answered by the process that took the request: a
// stopped process writes nothing. If another process answers at the store's
// address, everything buffered may be lost, and is resent. Duplicates do no harm:
// VictoriaMetrics drops equal samples (-dedup.minScrapeInterval), Tempo merges
// spans by their id, and VictoriaLogs, which does neither, is first queried for
// the lines that it has.
//
// It is not a queue. When a store does not answer, or refuses, the collector
// retries from its own disk; each request gets the store's own answer. Nothing
// here is on disk: losing the relay costs nothing, unless a store is killed within
// the same seconds.
package redelivery
