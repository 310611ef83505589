package kubernetes_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/emr-observatory/emr-observatory/platform"
)

// pods returns the pods that the workloads' controllers would create, by workload.
func pods(t *testing.T, p program) map[string]corev1.Pod {
	t.Helper()
	out := map[string]corev1.Pod{}
	for _, o := range p.objects {
		template, found, err := unstructured.NestedMap(o.Object, "spec", "template")
		require.NoError(t, err)
		if !found {
			continue
		}
		var typed corev1.PodTemplateSpec
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(template, &typed))
		pod := corev1.Pod{ObjectMeta: typed.ObjectMeta, Spec: typed.Spec}
		pod.Name, pod.Namespace = o.GetName(), o.GetNamespace()
		out[o.GetName()] = pod
	}
	require.Len(t, out, len(platform.Workloads()))
	return out
}

// admit creates a pod in a dry run.
func (c *cluster) admit(t *testing.T, pod corev1.Pod) error {
	t.Helper()
	_, err := c.typed.CoreV1().Pods(pod.Namespace).Create(t.Context(), &pod, metav1.CreateOptions{
		DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
	})
	return err
}

// testPods requires the API server to admit the workloads' pods and to reject pods with
// more privileges.
func testPods(t *testing.T, c *cluster, p program) {
	all := pods(t, p)
	for name, pod := range all {
		require.NoError(t, c.admit(t, pod), name)
	}
	yes, no := true, false
	for name, privilege := range map[string]struct {
		err  string // part of the API server's error
		edit func(*corev1.Pod)
	}{
		"host port":    {"hostPort", func(p *corev1.Pod) { p.Spec.Containers[0].Ports[0].HostPort = 4317 }},
		"host network": {"hostNetwork", func(p *corev1.Pod) { p.Spec.HostNetwork = true }},
		"host path": {"hostPath", func(p *corev1.Pod) {
			p.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}
		}},
		"root": {"runAsNonRoot", func(p *corev1.Pod) { p.Spec.SecurityContext.RunAsNonRoot = &no }},
		"privileged": {"privileged", func(p *corev1.Pod) {
			c := p.Spec.Containers[0].SecurityContext
			c.Privileged, c.AllowPrivilegeEscalation = &yes, &yes
		}},
		"escalation": {"allowPrivilegeEscalation", func(p *corev1.Pod) {
			p.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil
		}},
		"capabilities":        {"capabilities", func(p *corev1.Pod) { p.Spec.Containers[0].SecurityContext.Capabilities = nil }},
		"any system call":     {"seccompProfile", func(p *corev1.Pod) { p.Spec.SecurityContext.SeccompProfile = nil }},
		"the root user by id": {"runAsUser=0", func(p *corev1.Pod) { var root int64; p.Spec.Containers[0].SecurityContext.RunAsUser = &root }},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			collector := all[string(platform.WorkloadCollector)]
			pod := collector.DeepCopy()
			privilege.edit(pod)
			err := c.admit(t, *pod)
			require.ErrorContains(t, err, `violates PodSecurity "restricted`)
			require.ErrorContains(t, err, privilege.err)
		})
	}
}
