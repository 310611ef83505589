package workloads

import (
	"fmt"

	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	networkingv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/networking/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/platform"
)

// systemNamespace holds what K3s runs itself: name resolution, the volume
// provisioner, resource metrics.
const systemNamespace = "kube-system"

const (
	policyNoMetadata = "no-instance-metadata"
	policyMetadata   = "instance-metadata"
)

// metadataPolicies let only the workloads that use AWS reach the instance
// metadata, and with it the node's role. For their sake the control node answers
// over two hops, which alone would give every pod the role. All other egress
// stays open: K3s enforces the policies itself, and a pod may do what any policy
// that selects it allows.
func (o objects) metadataPolicies(workloads []workload) ([]pulumi.Resource, error) {
	var users []string
	for _, w := range workloads {
		if w.AWSRole || w.config.Preparation != nil {
			users = append(users, string(w.Name))
		}
	}
	everyPod := &metav1.LabelSelectorArgs{}
	own, err := o.egressPolicy(policyNoMetadata, o.namespace, everyPod, allButMetadata())
	if err != nil {
		return nil, err
	}
	system, err := o.egressPolicy(policyNoMetadata+"-"+systemNamespace, pulumi.String(systemNamespace), everyPod, allButMetadata())
	if err != nil {
		return nil, err
	}
	admitted, err := o.egressPolicy(policyMetadata, o.namespace, &metav1.LabelSelectorArgs{
		MatchExpressions: metav1.LabelSelectorRequirementArray{metav1.LabelSelectorRequirementArgs{
			Key: pulumi.String(nameLabel), Operator: pulumi.String("In"), Values: pulumi.ToStringArray(users),
		}},
	}, networkingv1.NetworkPolicyEgressRuleArgs{
		To: networkingv1.NetworkPolicyPeerArray{ipBlock(platform.InstanceMetadata + "/32")},
		Ports: networkingv1.NetworkPolicyPortArray{networkingv1.NetworkPolicyPortArgs{
			Protocol: pulumi.String("TCP"), Port: pulumi.Int(int(platform.InstanceMetadataPort)),
		}},
	})
	if err != nil {
		return nil, err
	}
	return []pulumi.Resource{own, system, admitted}, nil
}

// allButMetadata names pods besides addresses: some network plugins apply an
// address block only to destinations outside the cluster.
func allButMetadata() networkingv1.NetworkPolicyEgressRuleArgs {
	return networkingv1.NetworkPolicyEgressRuleArgs{To: networkingv1.NetworkPolicyPeerArray{
		ipBlock("0.0.0.0/0", platform.InstanceMetadata+"/32"),
		networkingv1.NetworkPolicyPeerArgs{NamespaceSelector: &metav1.LabelSelectorArgs{}},
	}}
}

func ipBlock(cidr string, except ...string) networkingv1.NetworkPolicyPeerArgs {
	b := &networkingv1.IPBlockArgs{Cidr: pulumi.String(cidr)}
	if len(except) > 0 {
		b.Except = pulumi.ToStringArray(except)
	}
	return networkingv1.NetworkPolicyPeerArgs{IpBlock: b}
}

// egressPolicy restricts what the selected pods of a namespace may reach, not who
// may reach them.
func (o objects) egressPolicy(
	name string, namespace pulumi.StringInput, pods *metav1.LabelSelectorArgs, egress networkingv1.NetworkPolicyEgressRuleArgs,
) (*networkingv1.NetworkPolicy, error) {
	meta := o.meta(name)
	meta.Namespace = stringPtr(namespace)
	p, err := networkingv1.NewNetworkPolicy(o.Ctx, o.Name(name), &networkingv1.NetworkPolicyArgs{
		Metadata: meta,
		Spec: &networkingv1.NetworkPolicySpecArgs{
			PodSelector: pods, PolicyTypes: pulumi.ToStringArray([]string{"Egress"}),
			Egress: networkingv1.NetworkPolicyEgressRuleArray{egress},
		},
	}, o.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create NetworkPolicy %s: %w", name, err)
	}
	return p, nil
}
