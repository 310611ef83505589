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

// apply creates or updates o as the Kubernetes provider does, by server-side apply;
// unknown fields are errors. With metav1.DryRunAll the API server only validates it.
func (c *cluster) apply(t *testing.T, o unstructured.Unstructured, dryRun ...string) error {
	t.Helper()
	body, err := json.Marshal(o.Object)
	require.NoError(t, err)
	force := true
	_, err = c.client(t, o).Patch(t.Context(), o.GetName(), types.ApplyPatchType, body, metav1.PatchOptions{
		FieldManager: "test", Force: &force, DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict,
	})
	return err
}

// invalidObject is the program's first object of a kind with one invalid value.
type invalidObject struct {
	kind  string
	path  []string
	value any
	err   string // part of the API server's error
}

// testObjects requires the API server to accept every object without a warning, and to
// reject invalid ones.
func testObjects(t *testing.T, c *cluster, p program) {
	c.warnings.reset()
	for _, o := range p.objects {
		require.NoError(t, c.apply(t, o, metav1.DryRunAll), "%s %s", o.GetKind(), o.GetName())
		require.Empty(t, c.warnings.reset(), "%s %s", o.GetKind(), o.GetName())
	}
	for name, s := range map[string]invalidObject{
		"a misspelt field": {"Deployment", []string{"spec", "template", "spec", "automountServiceAcountToken"}, false,
			"automountServiceAcountToken"},
		"an unknown field": {"ConfigMap", []string{"dota"}, map[string]any{}, "dota"},
		"a number as text": {"Deployment", []string{"spec", "replicas"}, "one", "spec.replicas"},
		"a wrong quantity": {"PersistentVolumeClaim", []string{"spec", "resources", "requests", "storage"}, "10GB",
			"quantities must match"},
		"a selector that does not match the pods": {"DaemonSet", []string{"spec", "selector", "matchLabels", "app.kubernetes.io/name"}, "other",
			"does not match template"},
		"an unknown service type": {"Service", []string{"spec", "type"}, "HostPort", "spec.type"},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			o := first(t, p, s.kind, "")
			require.NoError(t, unstructured.SetNestedField(o.Object, s.value, s.path...))
			require.ErrorContains(t, c.apply(t, o, metav1.DryRunAll), s.err)
		})
	}
}

// testConflicts creates all objects: no two may have the same name or node port, which
// a dry run does not check.
func testConflicts(t *testing.T, c *cluster, p program) {
	for _, o := range p.objects {
		require.NoError(t, c.apply(t, o), "%s %s", o.GetKind(), o.GetName())
	}
	second := first(t, p, "Service", string(platform.WorkloadStatus)+"-node")
	second.SetName("second")
	require.ErrorContains(t, c.apply(t, second), "provided port is already allocated")
	outside := map[string]any{"port": int64(platform.Status), "nodePort": int64(platform.ControlNodePortLast) + 1}
	require.NoError(t, unstructured.SetNestedSlice(second.Object, []any{outside}, "spec", "ports"))
	require.ErrorContains(t, c.apply(t, second), "not in the valid range")
}

// first returns a copy of the program's first object of a kind, and of a name unless
// that is "".
func first(t *testing.T, p program, kind, name string) unstructured.Unstructured {
	t.Helper()
	for _, o := range p.objects {
		if o.GetKind() == kind && (name == "" || o.GetName() == name) {
			return *o.DeepCopy()
		}
	}
	require.Failf(t, "no object", "the program has no %s", kind)
	return unstructured.Unstructured{}
}
