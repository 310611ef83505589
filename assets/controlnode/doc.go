// Package controlnode holds what runs to bring up the control node: the user
// data with its boot script, K3s configuration and systemd unit, and the gate
// that waits for the Kubernetes API. All of it is rendered by pure functions.
//
// It holds no secret and asks nobody anything: of the certificate authorities
// only the SSM parameter names appear. The components/controlnode package
// creates the AWS resources around it.
package controlnode
