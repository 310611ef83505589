// Package artifacts provides the files that EMR nodes install: the node
// collector, the launcher, the Spark plugin and async-profiler, each pinned by SHA-256 in
// assets/node/artifacts.lock.json.
//
// The collector has two builds: nodes on AWS install the optimised one, nodes of the
// local cloud the one that compiles fast. Who loads the artifacts chooses
// (stacks.LoadMaterials); the program only gets files.
//
// Where a module that the collector links has no option for what nodes need, a patch.json
// beside the collector's sources changes it; a patch that no longer fits fails the build.
//
// It builds or fetches what the lock names into a content-addressed store, and
// returns verified paths. It uploads nothing (components/telemetry does) and
// decides no versions: those are in platform.NodeParts and in the lock.
package artifacts
