package workloads_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
)

// metadataUsers returns the workloads that read S3, CloudWatch or the artifacts
// with the instance's role.
func metadataUsers() []platform.Workload {
	return []platform.Workload{platform.WorkloadProfiler, platform.WorkloadPyroscope, platform.WorkloadRedelivery, platform.WorkloadStatus,
		platform.WorkloadTempo, platform.WorkloadTools, platform.WorkloadYACE}
}

func TestOnlyUsersOfTheRoleReachTheMetadata(t *testing.T) {
	require.Equal(t, metadataUsers(), metadataReaders(t, record(t, sampleArgs(), nil)))
}

// metadataReaders returns the workloads that the recorded policies let reach the
// instance metadata.
func metadataReaders(t *testing.T, rec *recorder.Recording) []platform.Workload {
	t.Helper()
	restricted := map[string]bool{} // namespaces
	reach := map[platform.Workload]bool{}
	recorded := rec.OfType("kubernetes:networking.k8s.io/v1:NetworkPolicy")
	for _, r := range recorded {
		var p networkingv1.NetworkPolicy
		decodeInputs(t, r, &p)
		require.Equal(t, []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}, p.Spec.PolicyTypes, p.Name)
		selector, err := metav1.LabelSelectorAsSelector(&p.Spec.PodSelector)
		require.NoError(t, err)
		require.Len(t, p.Spec.Egress, 1, p.Name)
		rule := p.Spec.Egress[0]
		if selector.Empty() {
			restricted[p.Namespace] = true
			require.Empty(t, rule.Ports)
			require.Equal(t, []string{platform.InstanceMetadata + "/32"}, rule.To[0].IPBlock.Except, p.Name)
			continue
		}
		require.Equal(t, platform.Name, p.Namespace)
		require.Equal(t, platform.InstanceMetadata+"/32", rule.To[0].IPBlock.CIDR)
		require.Equal(t, int32(80), rule.Ports[0].Port.IntVal)
		for w, pod := range pods(t, rec) {
			if selector.Matches(labels.Set(pod.Labels)) {
				reach[w] = true
			}
		}
	}
	require.Equal(t, map[string]bool{platform.Name: true, "kube-system": true}, restricted)
	var got []platform.Workload
	for w := range reach {
		got = append(got, w)
	}
	slices.Sort(got)
	return got
}

// A pod that starts before the policies exist could use the role for a moment.
func TestPodsStartAfterTheirNetworkPolicies(t *testing.T) {
	rec := record(t, sampleArgs(), nil)
	for _, token := range []string{"kubernetes:apps/v1:Deployment", "kubernetes:apps/v1:DaemonSet"} {
		for _, r := range rec.OfType(token) {
			require.Subset(t, r.Dependencies, []string{"workloads-no-instance-metadata", "workloads-instance-metadata"}, r.Name)
		}
	}
}
