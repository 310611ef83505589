// Package controlnode renders what boots the control node: the user data with its
// boot script, K3s configuration and systemd unit, and the gate that waits for the
// Kubernetes API. All of it consists of pure functions.
//
// It handles no secrets: of the certificate authorities only the SSM parameter names
// appear. Package components/controlnode creates the AWS resources.
package controlnode
