package kubernetes_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/emr-observatory/emr-observatory/platform"
)

// apply asks for o as the Kubernetes provider does, by server-side apply; a
// field that the API does not know is an error. With metav1.DryRunAll the API
// judges and changes nothing.
func (c *cluster) apply(t *testing.T, o unstructured.Unstructured, dryRun ...string) error {
	t.Helper()
	body, err := json.Marshal(o.Object)
	require.NoError(t, err)
	force := true
	_, err = c.of(t, o).Patch(t.Context(), o.GetName(), types.ApplyPatchType, body, metav1.PatchOptions{
		FieldManager: "test", Force: &force, DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict,
	})
	return err
}

// spoiled is an object of the program with one value changed.
type spoiled struct {
	kind   string
	at     []string
	value  any
	reason string // part of the API's refusal
}

func testObjects(t *testing.T, c *cluster, p program) {
	c.warnings.take()
	for _, o := range p.objects {
		require.NoError(t, c.apply(t, o, metav1.DryRunAll), "%s %s", o.GetKind(), o.GetName())
		require.Empty(t, c.warnings.take(), "%s %s", o.GetKind(), o.GetName())
	}
	for name, s := range map[string]spoiled{
		"a misspelt field":        {"Deployment", []string{"spec", "template", "spec", "automountServiceAcountToken"}, false, "automountServiceAcountToken"},
		"an unknown field":        {"ConfigMap", []string{"dota"}, map[string]any{}, "dota"},
		"a number as text":        {"Deployment", []string{"spec", "replicas"}, "one", "spec.replicas"},
		"a wrong quantity":        {"PersistentVolumeClaim", []string{"spec", "resources", "requests", "storage"}, "10GB", "quantities must match"},
		"a selector of others":    {"DaemonSet", []string{"spec", "selector", "matchLabels", "app.kubernetes.io/name"}, "other", "does not match template"},
		"an unknown service type": {"Service", []string{"spec", "type"}, "HostPort", "spec.type"},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			o := first(t, p, s.kind, "")
			require.NoError(t, unstructured.SetNestedField(o.Object, s.value, s.at...))
			require.ErrorContains(t, c.apply(t, o, metav1.DryRunAll), s.reason)
		})
	}
}

// testTogether makes all of them: no two may want the same name, or the same
// port of the node, which a dry run does not look at.
func testTogether(t *testing.T, c *cluster, p program) {
	for _, o := range p.objects {
		require.NoError(t, c.apply(t, o), "%s %s", o.GetKind(), o.GetName())
	}
	second := first(t, p, "Service", string(platform.WorkloadStatus)+"-node")
	second.SetName("second")
	require.ErrorContains(t, c.apply(t, second), "provided port is already allocated")
	beyond := map[string]any{"port": int64(platform.Status), "nodePort": int64(platform.ControlNodePortLast) + 1}
	require.NoError(t, unstructured.SetNestedSlice(second.Object, []any{beyond}, "spec", "ports"))
	require.ErrorContains(t, c.apply(t, second), "not in the valid range")
}

// first is a copy of the program's first object of a kind, or of a kind and name.
func first(t *testing.T, p program, kind, name string) unstructured.Unstructured {
	t.Helper()
	for _, o := range p.objects {
		if o.GetKind() == kind && (name == "" || o.GetName() == name) {
			return *o.DeepCopy()
		}
	}
	require.Failf(t, "no object", "the program makes no %s", kind)
	return unstructured.Unstructured{}
}
