// Package region is the ground that the local cloud stands on: one private
// user, mount, process and network namespace, a bridge that is its network,
// and the machines on that bridge. Listening sockets opened outside are passed
// in, so that services inside are reached on the host's 127.0.0.1.
//
// It knows machines and addresses only. What a machine is for (an EMR node, a
// pod) is decided by the packages that start it.
package region
