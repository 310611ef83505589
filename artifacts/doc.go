// Package artifacts provides the files that EMR nodes install: the node
// collector, the launcher and async-profiler, each pinned by SHA-256 in
// assets/node/artifacts.lock.json.
//
// It builds or fetches what the lock names, into a store addressed by content,
// and hands out verified paths. It uploads nothing (components/telemetry does)
// and decides no versions: those stand in the lock.
package artifacts
