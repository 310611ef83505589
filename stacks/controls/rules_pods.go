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
		{IDs: []string{"CKV_K8S_16", "CKV_K8S_17", "CKV_K8S_18", "CKV_K8S_19", "CKV_K8S_20", "CKV_K8S_22", "CKV_K8S_23", "CKV_K8S_28", "CKV_K8S_31", "CKV_K8S_38"},
			Wants: "A pod has no rights on the node and none on the Kubernetes API", Types: workloads, Check: harmless},
		{IDs: []string{"observatory/host-ports"}, Wants: "A workload takes no port of the node that is not declared", Types: append(workloads, typeService), Check: onlyHostPorts},
		{IDs: []string{"observatory/pod-metadata"}, Wants: "A pod reaches the instance's metadata, and so S3 and CloudWatch, only if it needs to", Types: workloads, Check: metadataByNeed},
		{IDs: []string{"observatory/system-metadata"}, Wants: "What K3s runs itself reaches no metadata", Types: []string{"kubernetes:core/v1:Namespace"}, Check: systemConfined},
	}
}

// roleUsers are the workloads that work with AWS under the instance's role.
//
//nolint:gochecknoglobals // one table, read-only
var roleUsers = map[platform.Workload]string{
	platform.WorkloadTempo:      "keeps its blocks in S3",
	platform.WorkloadPyroscope:  "keeps its blocks in S3",
	platform.WorkloadYACE:       "asks CloudWatch",
	platform.WorkloadStatus:     "fetches its binary from S3",
	platform.WorkloadRedelivery: "fetches its binary from S3",
}

// read decodes a value through Kubernetes' own types.
func read[T any](v any) T {
	var out T
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil { // inputs were checked by the provider; this is a fault of the test's own making
		panic(fmt.Sprintf("controls: read %T: %v", out, err))
	}
	return out
}

func podOf(r Resource) corev1.PodSpec { return read[corev1.PodSpec](r.At("spec.template.spec")) }

func containers(r Resource) []corev1.Container {
	pod := podOf(r)
	return slices.Concat(pod.Containers, pod.InitContainers)
}

func isTrue(b *bool) bool  { return b != nil && *b }
func isFalse(b *bool) bool { return b != nil && !*b }

func harmless(r Resource, _ Resources) Judgement {
	pod := podOf(r)
	s := pod.SecurityContext
	switch {
	case pod.HostNetwork || pod.HostPID || pod.HostIPC:
		return unmet("shares a namespace of the node")
	case !isFalse(pod.AutomountServiceAccountToken):
		return unmet("has a token of the Kubernetes API")
	case s == nil || !isTrue(s.RunAsNonRoot) || s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault:
		return unmet("may run as root or make every system call")
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
			return unmet("container %s has more than an unprivileged process", c.Name)
		}
	}
	return met()
}

// confinement is what the network policies say of the metadata to a pod.
type confinement struct {
	confined, admitted Resources // by those that close everything else, by those that open it
}

func (all Resources) confinementOf(namespace string, podLabels map[string]string) confinement {
	var c confinement
	for _, r := range all.OfType(typeNetworkPolicy) {
		p := read[networkingv1.NetworkPolicy](r.Inputs)
		selector, err := metav1.LabelSelectorAsSelector(&p.Spec.PodSelector)
		if err != nil || p.Namespace != namespace || !selector.Matches(labels.Set(podLabels)) || !slices.Contains(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress) {
			continue
		}
		if admitsMetadata(p) {
			c.admitted = append(c.admitted, r)
			continue
		}
		c.confined = append(c.confined, r)
	}
	return c
}

// admitsMetadata reads the policy's destinations; one without any is
// everywhere.
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

func metadataByNeed(r Resource, all Resources) Judgement {
	name := r.Text("metadata.name")
	_, needs := roleUsers[platform.Workload(name)]
	c := all.confinementOf(r.Text("metadata.namespace"), read[map[string]string](r.At("spec.template.metadata.labels")))
	reaches := len(c.confined)+len(c.admitted) == 0 || len(c.admitted) > 0
	switch {
	case podOf(r).HostNetwork:
		return unmet("no network policy holds for the node's own network")
	case reaches && !needs:
		return unmet("reaches the metadata without a need")
	case needs && len(c.admitted) == 0:
		return unmet("needs the instance's role and does not get it")
	}
	return met(append(c.confined, c.admitted...)...)
}

func systemConfined(_ Resource, all Resources) Judgement {
	c := all.confinementOf("kube-system", map[string]string{"any": "pod"})
	if len(c.confined) == 0 || len(c.admitted) > 0 {
		return unmet("pods of kube-system reach the metadata")
	}
	return met(c.confined...)
}

// RoleUsers gives who reaches AWS from a pod, and why, in the order of names.
func RoleUsers() []string {
	var out []string
	for _, w := range slices.Sorted(maps.Keys(roleUsers)) {
		out = append(out, fmt.Sprintf("`%s` %s", w, roleUsers[w]))
	}
	return out
}
