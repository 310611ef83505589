// Package controlnode builds the machine that keeps the telemetry: one EC2
// instance with K3s.
//
// It creates
//   - a network interface that outlives the instance: its private IP is the
//     address that EMR nodes use;
//   - with public access, an Elastic IP on that interface;
//   - an encrypted data volume of its own, protected and retained unless the
//     stack is ephemeral, and its attachment;
//   - a role limited to the prefixes, the key and the parameters the node needs; the keys
//     of K3s' authorities are among these for an hour from the instance's creation;
//   - the certificate authorities of K3s, passed to the instance as SSM
//     SecureStrings, and the administrator's certificate;
//   - the instance, which is replaced when its user data changes: everything
//     worth keeping is on the volume;
//   - the gate: a local command that ends when the Kubernetes API is ready.
//
// Kubeconfig resolves only after the gate, because the Kubernetes provider
// connects to the API only once, when it is configured.
//
// The node has no SSH key (operators use Session Manager), and its user data
// contains no secret. Its addresses are known before it boots and are in its
// certificates; which of them operators and the program use, controlNode.access
// says (decision 10).
//
// The metadata service answers over two hops, so that pods without host network
// (Tempo, Pyroscope, YACE) can use the instance's role; with one hop they have
// no credentials. With two hops every pod could use it. Therefore the role
// allows only what the node's workloads need, and the network policies of
// components/workloads block the metadata service for all other pods.
package controlnode
