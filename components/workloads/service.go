package workloads

import (
	"cmp"
	"fmt"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/platform"
)

// nodeSuffix names the Service that opens a workload's ports on the node.
const nodeSuffix = "-node"

// services open all of a workload's ports inside the cluster, and some on the
// node's address as well. The latter have a Service of their own, since a NodePort
// Service opens every port that it has. hostPort is no alternative: the
// "restricted" pod security standard forbids it.
//
// With a door the node's address leads to the door's pods. The Service keeps its name: another
// one could not have the port of the node before this one is deleted, and an update creates
// before it deletes.
func (o objects) services(r platform.WorkloadRecord) error {
	name := string(r.Name)
	inside, node := servicePorts(r)
	if err := o.service(name, &corev1.ServiceSpecArgs{Selector: podLabels(r.Name), Ports: inside}); err != nil {
		return err
	}
	if len(node) == 0 {
		return nil
	}
	return o.service(name+nodeSuffix, &corev1.ServiceSpecArgs{
		Selector: podLabels(cmp.Or(r.Door.Workload, r.Name)), Ports: node, Type: pulumi.String("NodePort"),
		// The pod is on this node, and sees its clients' own addresses.
		ExternalTrafficPolicy: pulumi.String("Local"),
	})
}

// service creates a Service, for whose pods the provider must not wait. It would wait in
// one of the engine's workers: for ten seconds where no pod exists, and for ten minutes at
// most while pods have an address and are not ready, as while a node pulls their images. On
// few cores the Services of all workloads take every worker (tests/kubernetes
// TestKubernetesProvider).
func (o objects) service(name string, spec *corev1.ServiceSpecArgs) error {
	_, err := corev1.NewService(o.Ctx, o.Name(name), &corev1.ServiceArgs{Metadata: o.unawaitedMeta(name), Spec: spec}, o.Options()...)
	if err != nil {
		return fmt.Errorf("create Service %s: %w", name, err)
	}
	return nil
}

// servicePorts returns the ports inside the cluster and those on the node's
// address, where they keep their numbers (platform.ControlNodePortFirst and -Last).
func servicePorts(r platform.WorkloadRecord) (inside, node corev1.ServicePortArray) {
	for _, p := range r.Ports {
		number := pulumi.Int(int(p.Number))
		inside = append(inside, corev1.ServicePortArgs{Name: pulumi.String(p.Name), Port: number, TargetPort: number})
		if p.Node {
			target := pulumi.Int(int(cmp.Or(r.Door.Port, p.Number)))
			node = append(node, corev1.ServicePortArgs{Name: pulumi.String(p.Name), Port: number, TargetPort: target, NodePort: number})
		}
	}
	return inside, node
}
