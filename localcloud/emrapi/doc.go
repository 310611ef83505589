// Package emrapi is the EMR HTTP API of the local cloud: the clusters, instances, steps
// and persistent UIs that the local cloud runs, in the shapes and with the rules of
// Amazon's own endpoint, so that unmodified AWS SDKs can use it.
//
// A Store holds the state and keeps it on disk. A Server serves requests on a Store and
// has the work that they ask for done by Nodes: clusters launched, groups resized, steps
// run in order. AppUIs open the pages of clusters. The package starts no node and no
// process itself. It checks that a request is signed, not by whom.
package emrapi
