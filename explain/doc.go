// Package explain says of a cluster what it gets: every value and who set it, what its
// executors leave of the nodes, and what scaling may do. It reads configuration alone:
// not what EMR made of it.
package explain
