package kube_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/kube"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

func TestFailedInitContainerStopsThePod(t *testing.T) {
	c := newCluster(t)
	d := deployment("fetching", "sleep infinity", func(d *appsv1.Deployment, main *corev1.Container) {
		d.Spec.Template.Spec.InitContainers = []corev1.Container{
			{Name: "fetch", Image: main.Image, Args: []string{"echo no such object; exit 3"}},
		}
	})
	require.EqualError(t, c.apply("Deployment", d), "Deployment fetching: init container fetch ended with 3: no such object\n")
	_, runs := c.Region.Machine("pod-fetching")
	require.False(t, runs)

	d.Spec.Template.Spec.InitContainers[0].Args = []string{"echo fetched > /work/file"}
	volume("/work", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})(d, &d.Spec.Template.Spec.InitContainers[0])
	d.Spec.Template.Spec.Containers[0].VolumeMounts = d.Spec.Template.Spec.InitContainers[0].VolumeMounts
	c.mustApply("Deployment", d)
	require.Equal(t, "fetched", c.runIn("fetching", "cat /work/file"), "volumes are the pod's")
}

// A container's own command replaces the image's entrypoint, and finds the image's
// server at its path.
func TestCommandFindsTheImagesServer(t *testing.T) {
	c := newCluster(t)
	d := deployment("starter", "", func(_ *appsv1.Deployment, c *corev1.Container) {
		c.Image, c.Command = "docker.io/test/true:1", []string{"/bin/bash", "-c"}
		c.Args = []string{`"$0" && touch /tmp/ran && sleep infinity`, "/server"}
	}, readiness(execProbe("test", "-f", "/tmp/ran")))
	c.mustApply("Deployment", d)
}

// A program that is installed on the host brings its folders and its environment, which
// replaces the container's.
func TestImageOfAnInstalledProgram(t *testing.T) {
	c := newCluster(t)
	c.mustApply("Deployment", deployment("installed", "", func(_ *appsv1.Deployment, c *corev1.Container) {
		c.Image, c.Env = "docker.io/test/own:1", []corev1.EnvVar{{Name: "FROM", Value: "container"}, {Name: "OWN", Value: "kept"}}
		c.Args = []string{`{ echo "$FROM $OWN"; cat /opt/own; } > /tmp/part && mv /tmp/part /tmp/seen && exec sleep infinity`}
	}, readiness(execProbe("test", "-s", "/tmp/seen"))))
	host, err := os.ReadFile("/etc/hostname")
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace("image kept\n"+string(host)), c.runIn("installed", "cat /tmp/seen"))
}

func TestExitedContainerRestartsWithBackoff(t *testing.T) {
	c := newCluster(t)
	err := c.apply("Deployment", deployment("crashing", `date +%s.%N >> /data/starts; echo "cannot open the store" >&2; exit 1`,
		volume("/data", claimVolume("starts")), readiness(execProbe("test", "-e", "/ready")), progressDeadline(13)))
	require.ErrorContains(t, err, "Deployment crashing: not ready within 13s: its process does not run (started ")
	require.ErrorContains(t, err, "the end of its log:\ncannot open the store")
	raw, err := os.ReadFile(filepath.Join(c.claims, namespace, "starts", "starts"))
	require.NoError(t, err)
	var starts []float64
	for _, l := range strings.Fields(string(raw)) {
		var at float64
		_, err := fmt.Sscan(l, &at)
		require.NoError(t, err)
		starts = append(starts, at)
	}
	require.GreaterOrEqual(t, len(starts), 4)
	for i, pause := range []float64{1, 1.97, 3.89} { // the unit's own pauses, which a busy machine can only lengthen
		require.Greater(t, starts[i+1]-starts[i], pause, "pauses grow: %v", starts)
	}
}

func TestKilledContainerRestarts(t *testing.T) {
	c := newCluster(t)
	c.mustApply("Deployment", deployment("killed", "exec sleep 12345"))
	c.runIn("killed", "pkill -KILL -f 'sleep 1234[5]'")
	testenv.Eventually(t, func() bool { s := c.status("killed"); return s.Running && s.Restarts == 1 }, testTimeout, 50*time.Millisecond)
}

func TestContainerGetsSIGTERMFirst(t *testing.T) {
	c := newCluster(t)
	script := `trap 'echo flushed > /data/file; exit 0' TERM; touch /tmp/up; while :; do sleep 0.05; done`
	c.mustApply("Deployment", deployment("flushing", script,
		volume("/data", claimVolume("flushed")), readiness(execProbe("test", "-e", "/tmp/up"))))
	require.NoError(t, c.Delete(t.Context(), "Deployment", namespace, "flushing"))
	raw, err := os.ReadFile(filepath.Join(c.claims, namespace, "flushed", "file"))
	require.NoError(t, err)
	require.Equal(t, "flushed\n", string(raw))
	_, runs := c.Region.Machine("pod-flushing")
	require.False(t, runs)
	require.NoDirExists(t, c.Region.Root("pod-flushing"))
	require.Empty(t, c.status("flushing"))
	require.NoError(t, c.Delete(t.Context(), "Deployment", namespace, "flushing"), "what is gone may be deleted again")
}

func TestContainerRunsAsItsUser(t *testing.T) {
	if region.SingleUID() {
		t.Skip("an ordinary user has one account only: .ci/run runs this as root")
	}
	c := newCluster(t)
	id := func(n int64) *int64 { return &n }
	security := func(d *appsv1.Deployment, _ *corev1.Container) {
		d.Spec.Template.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: id(10001), RunAsGroup: id(10002), FSGroup: id(10002)}
	}
	script := `id -u > /data/uid; id -g > /data/gid; touch /tmp/up; sleep infinity`
	ready := readiness(execProbe("sh", "-c", "test -e /tmp/up && test $(id -u) = 10001"))
	c.mustApply("Deployment", deployment("plain", script, volume("/data", claimVolume("plain")), security, ready))
	require.Equal(t, "10001 10002", c.runIn("plain", "echo $(cat /data/uid /data/gid)"))
	require.Equal(t, "10001:10002", c.runIn("plain", "stat -c %u:%g /data"))
	override := func(_ *appsv1.Deployment, main *corev1.Container) {
		main.SecurityContext = &corev1.SecurityContext{RunAsUser: id(20001)}
	}
	ready = readiness(execProbe("test", "-e", "/tmp/up"))
	c.mustApply("Deployment", deployment("own", script, volume("/data", claimVolume("own")), security, override, ready))
	require.Equal(t, "20001 10002", c.runIn("own", "echo $(cat /data/uid /data/gid)"), "the container's setting overrides the pod's")
}

func TestPodsStopWithTheirNodeAndRestart(t *testing.T) {
	c := newCluster(t)
	c.mustApply("Deployment", deployment("first", "sleep infinity", volume("/data", claimVolume("first"))))
	c.mustApply("Deployment", deployment("second", "sleep infinity"))
	c.runIn("first", "echo kept > /data/file")
	c.Evict(t.Context())
	for _, name := range []string{"first", "second"} {
		_, runs := c.Region.Machine("pod-" + name)
		require.False(t, runs)
		require.False(t, c.status(name).Running)
	}
	require.NoError(t, c.Restore(t.Context()))
	require.Equal(t, "kept", c.runIn("first", "cat /data/file"))
	again := c.pod("second")
	require.NoError(t, c.Restore(t.Context()))
	require.Same(t, again, c.pod("second"), "what runs is left alone")

	c.Evict(t.Context())
	require.NoError(t, c.DeleteAll())
	require.Empty(t, c.Statuses(t.Context()))
	require.NoError(t, c.Restore(t.Context()))
}

func TestUnsupportedManifestsAreRefused(t *testing.T) {
	c := newCluster(t)
	two := int32(2)
	for name, d := range map[string]struct {
		change func(*appsv1.Deployment, *corev1.Container)
		want   string
	}{
		"replicas": {func(d *appsv1.Deployment, _ *corev1.Container) { d.Spec.Replicas = &two }, "Deployment w: spec.replicas is 2"},
		"containers": {func(d *appsv1.Deployment, main *corev1.Container) {
			d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, *main)
		}, "containers has 2 entries"},
		"image": {func(_ *appsv1.Deployment, main *corev1.Container) {
			main.Image = "docker.io/test/other:1"
		}, "no program for it; it knows docker.io/test/none, docker.io/test/own, docker.io/test/shell"},
		"config map": {volume("/x", corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}), `configmap "" not found`},
		"volume":     {volume("/x", corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{}}), "volume v-x: the local cloud supports configMap"},
		"mount": {func(_ *appsv1.Deployment, main *corev1.Container) {
			main.VolumeMounts = []corev1.VolumeMount{{Name: "none", MountPath: "/x"}}
		}, `volumeMounts names "none"`},
		"field": {func(_ *appsv1.Deployment, main *corev1.Container) {
			from := &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.uid"}}
			main.Env = []corev1.EnvVar{{Name: "X", ValueFrom: from}}
		}, `env X: fieldPath "metadata.uid"`},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, c.apply("Deployment", deployment("w", "sleep infinity", d.change)), d.want)
			_, runs := c.Region.Machine("pod-w")
			require.False(t, runs)
		})
	}
	c.mustApply("Deployment", deployment("absent", "", func(_ *appsv1.Deployment, main *corev1.Container) {
		main.Image = "docker.io/test/none:1"
	}))
	require.Equal(t, kube.Status{Kind: "Deployment", Namespace: namespace, Name: "absent", Reason: "it has no build"}, c.status("absent"))
	require.Equal(t, map[string]string{"absent": "it has no build"}, c.Absent())
}

// dial connects as an operator or another machine would.
func dial(t *testing.T, address string) error {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err == nil {
		conn.Close()
	}
	return err
}
