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

// metadataPolicies let only the units that work with AWS reach the instance's
// metadata, and so its role. The control node answers over two hops for their
// sake, which alone would give every pod the role. Everything else stays open:
// K3s enforces the policies by itself, and adds up those that select a pod.
func (b *builder) metadataPolicies(units []unit) ([]pulumi.Resource, error) {
	var users []string
	for _, u := range units {
		if u.role {
			users = append(users, string(u.workload))
		}
	}
	own, err := b.networkPolicy(policyNoMetadata, b.namespace, &metav1.LabelSelectorArgs{}, allButMetadata())
	if err != nil {
		return nil, err
	}
	system, err := b.networkPolicy(policyNoMetadata+"-"+systemNamespace, pulumi.String(systemNamespace), &metav1.LabelSelectorArgs{}, allButMetadata())
	if err != nil {
		return nil, err
	}
	admitted, err := b.networkPolicy(policyMetadata, b.namespace, &metav1.LabelSelectorArgs{
		MatchExpressions: metav1.LabelSelectorRequirementArray{metav1.LabelSelectorRequirementArgs{
			Key: pulumi.String(nameLabel), Operator: pulumi.String("In"), Values: pulumi.ToStringArray(users),
		}},
	}, networkingv1.NetworkPolicyEgressRuleArgs{
		To:    networkingv1.NetworkPolicyPeerArray{block(platform.InstanceMetadata + "/32")},
		Ports: networkingv1.NetworkPolicyPortArray{networkingv1.NetworkPolicyPortArgs{Protocol: pulumi.String("TCP"), Port: pulumi.Int(int(platform.InstanceMetadataPort))}},
	})
	if err != nil {
		return nil, err
	}
	return []pulumi.Resource{own, system, admitted}, nil
}

// allButMetadata names the pods beside the addresses: some network plugins
// take an address block for what is outside the cluster only.
func allButMetadata() networkingv1.NetworkPolicyEgressRuleArgs {
	return networkingv1.NetworkPolicyEgressRuleArgs{To: networkingv1.NetworkPolicyPeerArray{
		block("0.0.0.0/0", platform.InstanceMetadata+"/32"),
		networkingv1.NetworkPolicyPeerArgs{NamespaceSelector: &metav1.LabelSelectorArgs{}},
	}}
}

func block(cidr string, except ...string) networkingv1.NetworkPolicyPeerArgs {
	b := &networkingv1.IPBlockArgs{Cidr: pulumi.String(cidr)}
	if len(except) > 0 {
		b.Except = pulumi.ToStringArray(except)
	}
	return networkingv1.NetworkPolicyPeerArgs{IpBlock: b}
}

// networkPolicy rules what the selected pods of a namespace may reach; who may
// reach them it leaves alone.
func (b *builder) networkPolicy(name string, namespace pulumi.StringInput, pods *metav1.LabelSelectorArgs, egress networkingv1.NetworkPolicyEgressRuleArgs) (*networkingv1.NetworkPolicy, error) {
	meta := b.meta(name)
	meta.Namespace = namespace.ToStringOutput().ToStringPtrOutput()
	p, err := networkingv1.NewNetworkPolicy(b.ctx, b.name(name), &networkingv1.NetworkPolicyArgs{
		Metadata: meta,
		Spec: &networkingv1.NetworkPolicySpecArgs{
			PodSelector: pods, PolicyTypes: pulumi.ToStringArray([]string{"Egress"}),
			Egress: networkingv1.NetworkPolicyEgressRuleArray{egress},
		},
	}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("create NetworkPolicy %s: %w", name, err)
	}
	return p, nil
}
