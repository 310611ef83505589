package kube_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/emr-observatory/emr-observatory/localcloud/kube"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// The configuration's hash is an annotation of the pod template, so an edit
// reaches the pods that read it and no other.
func TestConfigMapEditRestartsItsPodOnly(t *testing.T) {
	c := newCluster(t)
	source := corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "settings"},
	}}
	reader := deployment("reader", "cp /etc/app/settings /tmp/read; sleep infinity",
		volume("/etc/app", source), readiness(execProbe("test", "-e", "/tmp/read")))
	other := deployment("other", "sleep infinity")
	c.mustApply("ConfigMap", configMap("settings", map[string]string{"settings": "one"}))
	for _, d := range []*appsv1.Deployment{reader, other} {
		d.Spec.Template.Annotations = map[string]string{"config-hash": "1"}
		c.mustApply("Deployment", d)
	}
	require.Equal(t, "one", c.runIn("reader", "cat /tmp/read"))
	pods := map[string]*region.Machine{"reader": c.pod("reader"), "other": c.pod("other")}

	c.mustApply("ConfigMap", configMap("settings", map[string]string{"settings": "two"}))
	reader.Spec.Template.Annotations["config-hash"] = "2"
	c.mustApply("Deployment", reader)
	c.mustApply("Deployment", other)
	require.Equal(t, "two", c.runIn("reader", "cat /tmp/read"))
	require.NotSame(t, pods["reader"], c.pod("reader"))
	require.Same(t, pods["other"], c.pod("other"))
}

func TestSecretsAreInMemoryOnly(t *testing.T) {
	c := newCluster(t)
	const canary = "canary-5d1f0c"
	c.mustApply("Secret", &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "token", Namespace: namespace}, StringData: map[string]string{"token": canary},
	})
	from := &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: "token"}, Key: "token",
	}}
	script := `printf %s "$TOKEN" | tee /prepared/token | sha256sum > /tmp/env; sha256sum < /secrets/token > /tmp/file; sleep infinity`
	c.mustApply("Deployment", deployment("secret", script,
		volume("/secrets", corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "token"}}),
		volume("/prepared", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}),
		readiness(execProbe("test", "-s", "/tmp/file")),
		func(_ *appsv1.Deployment, main *corev1.Container) {
			main.Env = []corev1.EnvVar{{Name: "TOKEN", ValueFrom: from}}
		}))
	want := c.runIn("secret", "printf "+"canary; printf -- -5d1f0c")
	require.Equal(t, canary, want)
	sums := strings.Fields(c.runIn("secret", "cat /tmp/env /tmp/file"))
	require.Equal(t, sums[0], sums[2], "the container has it as a variable and as a file")
	require.Equal(t, sums[0], strings.Fields(c.runIn("secret", `(printf canary; printf -- -5d1f0c) | sha256sum`))[0])

	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	require.Greater(t, len(lines), 3)
	for _, l := range lines {
		raw, _ := os.ReadFile(l) // a process may have ended
		require.NotContains(t, string(raw), canary, l)
	}
	for _, dir := range []string{c.Dir, c.pod("secret").Root} {
		require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			raw, err := os.ReadFile(path)
			require.False(t, bytes.Contains(raw, []byte(canary)), path)
			return err
		}))
	}
	again := &kube.Runner{Dir: c.Dir, Key: c.Key}
	require.NoError(t, again.Open())
	wrong := &kube.Runner{Dir: c.Dir, Key: "another"}
	require.ErrorContains(t, wrong.Open(), "decrypt Secrets with this key")
}

func TestClaimOutlivesPods(t *testing.T) {
	c := newCluster(t)
	d := deployment("store", "sleep infinity", volume("/data", claimVolume("store")),
		volume("/scratch", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}))
	c.mustApply("Deployment", d)
	c.runIn("store", "echo kept > /data/file; touch /scratch/file /opt/file")
	d.Spec.Template.Annotations = map[string]string{"config-hash": "2"}
	c.mustApply("Deployment", d)
	require.Equal(t, "kept", c.runIn("store", "cat /data/file"))
	require.Equal(t, "0", c.runIn("store", "ls /scratch | wc -l"))
	require.Equal(t, "1", c.runIn("store", "test -e /opt/file; echo $?"))
	require.NoError(t, c.Delete(t.Context(), "PersistentVolumeClaim", namespace, "store"))
	require.NoDirExists(t, filepath.Join(c.claims, namespace, "store"))
}

func TestSecretIsReadByName(t *testing.T) {
	r := &kube.Runner{Dir: t.TempDir(), Key: "key"}
	require.NoError(t, r.Open())
	const raw = `{"metadata": {"namespace": "ns", "name": "access"}, "data": {"ca.crt": "Y2E="}, "stringData": {"password": "p"}}`
	require.NoError(t, r.Apply(t.Context(), "Secret", []byte(raw)))
	values, err := r.Secret("ns", "access")
	require.NoError(t, err)
	require.Equal(t, map[string][]byte{"ca.crt": []byte("ca"), "password": []byte("p")}, values)
	_, err = r.Secret("other", "access")
	require.ErrorContains(t, err, "secret other/access not found")
}
