// Package artifacts provides the files that EMR nodes install: the node
// collector, the launcher and async-profiler, each pinned by SHA-256 in
// assets/node/artifacts.lock.json.
//
// It builds or fetches what the lock names into a content-addressed store, and
// returns verified paths. It uploads nothing (components/telemetry does) and
// decides no versions: those are in platform.NodeParts and in the lock.
package artifacts
