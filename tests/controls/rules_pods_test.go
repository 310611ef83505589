package controls

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	typeDeployment    = "kubernetes:apps/v1:Deployment"
	typeDaemonSet     = "kubernetes:apps/v1:DaemonSet"
	typeService       = "kubernetes:core/v1:Service"
	typeNetworkPolicy = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
)

type mount = corev1.VolumeMount

func podRules() []Rule {
	workloads := []string{typeDeployment, typeDaemonSet}
	return []Rule{
		{IDs: []string{"CKV_K8S_16", "CKV_K8S_17", "CKV_K8S_18", "CKV_K8S_19", "CKV_K8S_20",
			"CKV_K8S_22", "CKV_K8S_23", "CKV_K8S_28", "CKV_K8S_31", "CKV_K8S_38"},
			Requires: "A pod has no privileges on the node and no access to the Kubernetes API", Types: workloads, Check: isUnprivileged},
		{IDs: []string{"observatory/host-ports"}, Requires: "A workload uses only declared ports of the node",
			Types: append(workloads, typeService), Check: onlyHostPorts},
		{IDs: []string{"observatory/pod-metadata"}, Requires: "A pod reaches the instance metadata, and so S3 and CloudWatch, only if needed",
			Types: workloads, Check: reachesMetadataIfNeeded},
		{IDs: []string{"observatory/system-metadata"}, Requires: "K3s's own pods cannot reach the instance metadata",
			Types: []string{"kubernetes:core/v1:Namespace"}, Check: systemPodsBlocked},
	}
}

// roleUsers maps the workloads that use the instance's role to their purpose.
var roleUsers = map[platform.Workload]string{
	platform.WorkloadTempo:      "stores its blocks in S3",
	platform.WorkloadPyroscope:  "stores its blocks in S3",
	platform.WorkloadYACE:       "queries CloudWatch",
	platform.WorkloadStatus:     "fetches its binary from S3 and lists EMR steps",
	platform.WorkloadRedelivery: "fetches its binary from S3",
	platform.WorkloadProfiler:   "fetches its binary from S3, reads EMR's clusters and writes their history to S3",
	platform.WorkloadTools:      "fetches its binary from S3, and assumes the role that reads the history",
}

// preparesWithRole are the workloads that use the role only if an init container of
// theirs reads something first.
var preparesWithRole = map[platform.Workload]string{
	platform.WorkloadCollector: "reads the headers for tracing.endpoint, if tracing.headersParameter names them",
}

// decode converts a plain value to a Kubernetes type.
func decode[T any](v any) T {
	var out T
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil { // the recorder accepted the inputs, so this is a bug of the test
		panic(fmt.Sprintf("controls: decode %T: %v", out, err))
	}
	return out
}

func podOf(r Resource) corev1.PodSpec { return decode[corev1.PodSpec](r.At("spec.template.spec")) }

func containers(r Resource) []corev1.Container {
	pod := podOf(r)
	return slices.Concat(pod.Containers, pod.InitContainers)
}

func isTrue(b *bool) bool  { return b != nil && *b }
func isFalse(b *bool) bool { return b != nil && !*b }

func isUnprivileged(r Resource, _ Resources) Judgement {
	pod := podOf(r)
	s := pod.SecurityContext
	switch {
	case pod.HostNetwork || pod.HostPID || pod.HostIPC:
		return unmet("shares a namespace of the node")
	case !isFalse(pod.AutomountServiceAccountToken):
		return unmet("mounts a token for the Kubernetes API")
	case s == nil || !isTrue(s.RunAsNonRoot) || s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault:
		return unmet("may run as root or without the default seccomp profile")
	}
	for _, v := range pod.Volumes {
		if v.HostPath != nil {
			return unmet("mounts %s of the node", v.HostPath.Path)
		}
	}
	for _, c := range containers(r) {
		s := c.SecurityContext
		if s == nil || isTrue(s.Privileged) || !isFalse(s.AllowPrivilegeEscalation) || !isTrue(s.ReadOnlyRootFilesystem) ||
			s.Capabilities == nil || !slices.Contains(s.Capabilities.Drop, "ALL") || len(s.Capabilities.Add) > 0 {
			return unmet("container %s has more privileges than it needs", c.Name)
		}
	}
	return met()
}

// metadataPolicies are the network policies with egress rules that select a pod.
type metadataPolicies struct {
	denying, allowing Resources // access to the instance metadata
}

// metadataPoliciesOf returns the policies for pods of a namespace with these labels.
func (all Resources) metadataPoliciesOf(namespace string, podLabels map[string]string) metadataPolicies {
	var found metadataPolicies
	for _, r := range all.OfType(typeNetworkPolicy) {
		p := decode[networkingv1.NetworkPolicy](r.Inputs)
		selector, err := metav1.LabelSelectorAsSelector(&p.Spec.PodSelector)
		if err != nil || p.Namespace != namespace || !selector.Matches(labels.Set(podLabels)) ||
			!slices.Contains(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress) {
			continue
		}
		if admitsMetadata(p) {
			found.allowing = append(found.allowing, r)
			continue
		}
		found.denying = append(found.denying, r)
	}
	return found
}

// admitsMetadata reports whether a policy allows egress to the instance metadata. A
// rule without destinations allows all.
func admitsMetadata(p networkingv1.NetworkPolicy) bool {
	for _, rule := range p.Spec.Egress {
		if len(rule.To) == 0 {
			return true
		}
		for _, to := range rule.To {
			if to.IPBlock != nil && contains(to.IPBlock.CIDR, platform.InstanceMetadata) &&
				!slices.ContainsFunc(to.IPBlock.Except, func(e string) bool { return contains(e, platform.InstanceMetadata) }) {
				return true
			}
		}
	}
	return false
}

func reachesMetadataIfNeeded(r Resource, all Resources) Judgement {
	name := r.Text("metadata.name")
	_, needs := roleUsers[platform.Workload(name)]
	_, prepares := preparesWithRole[platform.Workload(name)]
	needs = needs || (prepares && len(podOf(r).InitContainers) > 0)
	p := all.metadataPoliciesOf(r.Text("metadata.namespace"), decode[map[string]string](r.At("spec.template.metadata.labels")))
	reaches := len(p.denying)+len(p.allowing) == 0 || len(p.allowing) > 0
	switch {
	case podOf(r).HostNetwork:
		return unmet("uses the host network, to which no network policy applies")
	case reaches && !needs:
		return unmet("reaches the metadata, but is not listed in roleUsers")
	case needs && len(p.allowing) == 0:
		return unmet("needs the instance's role, but cannot reach the metadata")
	}
	return met(append(p.denying, p.allowing...)...)
}

func systemPodsBlocked(_ Resource, all Resources) Judgement {
	p := all.metadataPoliciesOf("kube-system", map[string]string{"any": "pod"})
	if len(p.denying) == 0 || len(p.allowing) > 0 {
		return unmet("pods of kube-system reach the metadata")
	}
	return met(p.denying...)
}

// RoleUsers returns the workloads that use the instance's role, each with its purpose:
// first those that always do.
func RoleUsers() []string {
	var out []string
	for _, w := range slices.Sorted(maps.Keys(roleUsers)) {
		out = append(out, fmt.Sprintf("`%s` %s", w, roleUsers[w]))
	}
	for _, w := range slices.Sorted(maps.Keys(preparesWithRole)) {
		out = append(out, fmt.Sprintf("`%s` %s", w, preparesWithRole[w]))
	}
	return out
}
