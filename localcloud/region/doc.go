// Package region provides what the local cloud runs on: one private user, mount,
// process and network namespace, a bridge as its network, and the machines on
// that bridge. It inherits listening sockets opened outside, so that the host's
// 127.0.0.1 reaches services inside.
//
// It knows machines and addresses only. What a machine is for (an EMR node, a
// pod) is decided by the packages that boot it.
package region
