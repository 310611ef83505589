package workloads

import (
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
func (o objects) services(r platform.WorkloadRecord, pods pulumi.StringMap) error {
	name := string(r.Name)
	inside, node := servicePorts(r.Ports)
	_, err := corev1.NewService(o.Ctx, o.Name(name), &corev1.ServiceArgs{
		Metadata: o.meta(name), Spec: &corev1.ServiceSpecArgs{Selector: pods, Ports: inside},
	}, o.Options()...)
	if err != nil {
		return fmt.Errorf("create Service %s: %w", name, err)
	}
	if len(node) == 0 {
		return nil
	}
	name += nodeSuffix
	_, err = corev1.NewService(o.Ctx, o.Name(name), &corev1.ServiceArgs{
		Metadata: o.meta(name), Spec: &corev1.ServiceSpecArgs{
			Selector: pods, Ports: node, Type: pulumi.String("NodePort"),
			// The pod is on this node, and sees its clients' own addresses.
			ExternalTrafficPolicy: pulumi.String("Local"),
		},
	}, o.Options()...)
	if err != nil {
		return fmt.Errorf("create Service %s: %w", name, err)
	}
	return nil
}

// servicePorts returns the ports inside the cluster and those on the node's
// address, where they keep their numbers (platform.ControlNodePortFirst and -Last).
func servicePorts(ports []platform.WorkloadPort) (inside, node corev1.ServicePortArray) {
	for _, p := range ports {
		number := pulumi.Int(int(p.Number))
		inside = append(inside, corev1.ServicePortArgs{Name: pulumi.String(p.Name), Port: number, TargetPort: number})
		if p.Node {
			node = append(node, corev1.ServicePortArgs{Name: pulumi.String(p.Name), Port: number, TargetPort: number, NodePort: number})
		}
	}
	return inside, node
}
