// Package redelivery stands between the control node's collector and its
// stores, and sends again what a killed store had taken and not yet written.
//
// VictoriaMetrics, VictoriaLogs and Tempo answer a request before what it brought
// is on their disk; none of them has a log of its own to replay for that time.
// The collector forgets a request once it is answered. So the request is kept
// here for as long as the store may need, and a little longer (Settled), counted
// in answers of the very process that took it: a process that is stopped writes
// nothing. Another process at the store's address means that all that is kept
// may be lost, and is sent again. What a store has twice is once in its answers:
// VictoriaMetrics drops equal samples (-dedup.minScrapeInterval), Tempo merges
// spans by their id, and VictoriaLogs, which does neither, is asked first which
// lines it has.
//
// It is not a queue. A store that does not answer, or refuses, is the
// collector's affair, which waits and tries again from its own disk; a request
// gets the store's own answer. Nothing here is on disk: a redelivery that ends
// costs nothing, unless a store is killed within the same seconds.
package redelivery
