package workloads

import (
	"fmt"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// nodeSuffix names the Service that opens a workload's ports on the node.
const nodeSuffix = "-node"

// services make the unit's ports reachable: all of them inside the cluster,
// those for the node on its address too. The latter are a Service of their own,
// since a NodePort Service opens every port that it has. Not by hostPort: the
// "restricted" pod security standard forbids it.
func (b *builder) services(u unit, pods pulumi.StringMap) error {
	name := string(u.workload)
	inside, node := u.servicePorts()
	_, err := corev1.NewService(b.ctx, b.name(name), &corev1.ServiceArgs{
		Metadata: b.meta(name), Spec: &corev1.ServiceSpecArgs{Selector: pods, Ports: inside},
	}, b.child()...)
	if err != nil {
		return fmt.Errorf("create Service %s: %w", name, err)
	}
	if len(node) == 0 {
		return nil
	}
	name += nodeSuffix
	_, err = corev1.NewService(b.ctx, b.name(name), &corev1.ServiceArgs{
		Metadata: b.meta(name), Spec: &corev1.ServiceSpecArgs{
			Selector: pods, Ports: node, Type: pulumi.String("NodePort"),
			// The pod is on this node, and sees its clients' own addresses.
			ExternalTrafficPolicy: pulumi.String("Local"),
		},
	}, b.child()...)
	if err != nil {
		return fmt.Errorf("create Service %s: %w", name, err)
	}
	return nil
}

// servicePorts are those for the cluster and those for the node's address,
// where they keep their numbers (platform.ControlNodePortFirst and -Last).
func (u unit) servicePorts() (inside, node corev1.ServicePortArray) {
	for _, p := range u.ports {
		number := pulumi.Int(int(p.number))
		inside = append(inside, corev1.ServicePortArgs{Name: pulumi.String(p.name), Port: number, TargetPort: number})
		if p.node {
			node = append(node, corev1.ServicePortArgs{Name: pulumi.String(p.name), Port: number, TargetPort: number, NodePort: number})
		}
	}
	return inside, node
}
