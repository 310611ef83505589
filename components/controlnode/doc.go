// Package controlnode builds the machine that keeps the telemetry: one EC2
// instance with K3s.
//
// It creates
//   - a network interface, whose private IP is the address everybody else uses
//     and which outlives the instance;
//   - an encrypted data volume of its own, protected and retained unless the
//     stack is ephemeral, and its attachment;
//   - a role limited to the prefixes, the key and the parameters the node needs;
//   - the certificate authorities of K3s, handed over as SSM SecureStrings, and
//     the administrator's certificate;
//   - the instance, which is replaced when its user data changes: everything
//     worth keeping is on the volume;
//   - the gate: a local command that ends when the Kubernetes API is ready.
//
// Kubeconfig resolves only after the gate, because the Kubernetes provider
// looks at the API once, when it is configured, and never again.
//
// It never gives the node a public address or an SSH key (Session Manager is
// the way in), and puts no secret into user data.
//
// The metadata service answers over two hops, so that pods without host
// network (Tempo, Pyroscope, YACE) can use the instance's role; with one hop
// they have no credentials. The price is that every pod can: the role can
// therefore do no more than the node's workloads need, and the network policies
// of components/workloads keep the others from the metadata.
package controlnode
