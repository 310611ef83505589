package kube_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/emr-observatory/emr-observatory/localcloud/kube"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/localcloud/region/regiontest"
)

func TestMain(m *testing.M) { os.Exit(regiontest.Main(m)) }

const (
	namespace = "observatory"
	patience  = 30 * time.Second
	// controlAddress is the node's, which host and node ports are on.
	controlAddress = "10.0.3.1"
)

// cluster is a runner with a node to place pods on.
type cluster struct {
	*kube.Runner
	t       *testing.T
	exposed map[string]string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	r := regiontest.Region(t)
	control, err := r.Boot(t.Context(), machine.Spec{
		Name: "i-control", Hostname: "ip-10-0-3-1", Domain: "ec2.internal", OneUser: region.OneUser(),
		Addresses: []string{fmt.Sprintf("%s/%d", controlAddress, regiontest.Prefix), regiontest.PodsPrefix + ".2/24"}, Gateway: regiontest.Gateway,
	})
	require.NoError(t, err)
	c := &cluster{t: t, exposed: map[string]string{}}
	c.Runner = &kube.Runner{
		Region: r, Dir: filepath.Join(t.TempDir(), "kube"), Memory: "/run/kube-test", Key: "the passphrase",
		Images: map[string]kube.Image{
			"docker.io/test/shell": {Entrypoint: []string{"/bin/bash", "-c"}, Cmd: []string{"sleep infinity"}},
			"docker.io/test/none":  {Absent: "it is not to be had"},
		},
		Pods: regiontest.PodsPrefix, Gateway: regiontest.PodsGateway,
		Control: func() (*region.Machine, machine.Metadata, error) { return control, machine.Metadata{}, nil },
		Expose:  func(workload string, _ int32, address string) { c.exposed[workload] = address },
		Log:     slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	require.NoError(t, c.Open())
	t.Cleanup(func() {
		c.Evict(context.Background())
		require.NoError(t, r.Remove("i-control"))
	})
	return c
}

// deployment runs a shell script as the pod's one container.
func deployment(name, script string, change ...func(*appsv1.Deployment, *corev1.Container)) *appsv1.Deployment {
	var d appsv1.Deployment
	d.Name, d.Namespace = name, namespace
	seconds := int32(patience.Seconds())
	d.Spec.ProgressDeadlineSeconds = &seconds
	d.Spec.Template.Labels = map[string]string{"app": name}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: name, Image: "docker.io/test/shell:1@sha256:00", Args: []string{script}}}
	for _, f := range change {
		f(&d, &d.Spec.Template.Spec.Containers[0])
	}
	return &d
}

// volume mounts a volume in the container.
func volume(path string, source corev1.VolumeSource) func(*appsv1.Deployment, *corev1.Container) {
	return func(d *appsv1.Deployment, c *corev1.Container) {
		name := "v" + strings.ReplaceAll(path, "/", "-")
		d.Spec.Template.Spec.Volumes = append(d.Spec.Template.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path})
	}
}

func claim(name string) corev1.VolumeSource {
	return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
}

func readiness(h corev1.ProbeHandler) func(*appsv1.Deployment, *corev1.Container) {
	return func(_ *appsv1.Deployment, c *corev1.Container) { c.ReadinessProbe = &corev1.Probe{ProbeHandler: h} }
}

func command(argv ...string) corev1.ProbeHandler {
	return corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: argv}}
}

func within(seconds int32) func(*appsv1.Deployment, *corev1.Container) {
	return func(d *appsv1.Deployment, _ *corev1.Container) { d.Spec.ProgressDeadlineSeconds = &seconds }
}

func (c *cluster) apply(kind string, object any) error {
	raw, err := json.Marshal(object)
	require.NoError(c.t, err)
	return c.Apply(c.t.Context(), kind, raw)
}

func (c *cluster) mustApply(kind string, object any) {
	c.t.Helper()
	require.NoError(c.t, c.apply(kind, object))
}

func (c *cluster) pod(name string) *region.Machine {
	c.t.Helper()
	m, ok := c.Region.Machine("pod-" + name)
	require.True(c.t, ok, "pod of %s", name)
	return m
}

// in runs a script in a pod.
func (c *cluster) in(name, script string) string {
	c.t.Helper()
	res, err := c.pod(name).Run(c.t.Context(), machine.Exec{Argv: []string{"bash", "-c", script}})
	require.NoError(c.t, err)
	require.Zero(c.t, res.ExitCode, res.Tail)
	return strings.TrimSpace(res.Tail)
}

// status gives the workload's, or nothing.
func (c *cluster) status(name string) kube.Status {
	for _, s := range c.Statuses(c.t.Context()) {
		if s.Name == name {
			return s
		}
	}
	return kube.Status{}
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, Data: data}
}

func TestInitContainerThatFails(t *testing.T) {
	c := newCluster(t)
	d := deployment("fetching", "sleep infinity", func(d *appsv1.Deployment, main *corev1.Container) {
		d.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "fetch", Image: main.Image, Args: []string{"echo no such object; exit 3"}}}
	})
	require.EqualError(t, c.apply("Deployment", d), "Deployment fetching: init container fetch ended with 3: no such object\n")
	_, runs := c.Region.Machine("pod-fetching")
	require.False(t, runs)

	d.Spec.Template.Spec.InitContainers[0].Args = []string{"echo fetched > /work/file"}
	volume("/work", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})(d, &d.Spec.Template.Spec.InitContainers[0])
	d.Spec.Template.Spec.Containers[0].VolumeMounts = d.Spec.Template.Spec.InitContainers[0].VolumeMounts
	c.mustApply("Deployment", d)
	require.Equal(t, "fetched", c.in("fetching", "cat /work/file"), "volumes are the pod's")
}

func TestContainerThatEndsStartsAgainByGrowingPauses(t *testing.T) {
	c := newCluster(t)
	err := c.apply("Deployment", deployment("crashing", `date +%s.%N >> /data/starts; echo "cannot open the store" >&2; exit 1`,
		volume("/data", claim("starts")), readiness(command("test", "-e", "/ready")), within(9)))
	require.ErrorContains(t, err, "Deployment crashing: not ready within 9s: its process does not run (started ")
	require.ErrorContains(t, err, "the end of its log:\ncannot open the store")
	raw, err := os.ReadFile(filepath.Join(c.Dir, "claims", namespace, "starts", "starts"))
	require.NoError(t, err)
	var starts []float64
	for _, l := range strings.Fields(string(raw)) {
		var at float64
		_, err := fmt.Sscan(l, &at)
		require.NoError(t, err)
		starts = append(starts, at)
	}
	require.GreaterOrEqual(t, len(starts), 4)
	for i := 2; i < len(starts); i++ {
		before, now := starts[i-1]-starts[i-2], starts[i]-starts[i-1]
		require.Greater(t, now, before*1.2, "pauses grow: %v", starts)
	}
}

func TestContainerThatIsKilledStartsAgain(t *testing.T) {
	c := newCluster(t)
	c.mustApply("Deployment", deployment("killed", "exec sleep 12345"))
	c.in("killed", "pkill -KILL -f 'sleep 1234[5]'")
	require.Eventually(t, func() bool { s := c.status("killed"); return s.Running && s.Restarts == 1 }, patience, 50*time.Millisecond)
}

// The configuration's hash is an annotation of the pod template, so an edit
// reaches the pods that read it and no other.
func TestEditOfAConfigMapRestartsItsPodOnly(t *testing.T) {
	c := newCluster(t)
	source := corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}
	reader := deployment("reader", "cp /etc/app/settings /tmp/read; sleep infinity", volume("/etc/app", source), readiness(command("test", "-e", "/tmp/read")))
	other := deployment("other", "sleep infinity")
	c.mustApply("ConfigMap", configMap("settings", map[string]string{"settings": "one"}))
	for _, d := range []*appsv1.Deployment{reader, other} {
		d.Spec.Template.Annotations = map[string]string{"config-hash": "1"}
		c.mustApply("Deployment", d)
	}
	require.Equal(t, "one", c.in("reader", "cat /tmp/read"))
	pods := map[string]*region.Machine{"reader": c.pod("reader"), "other": c.pod("other")}

	c.mustApply("ConfigMap", configMap("settings", map[string]string{"settings": "two"}))
	reader.Spec.Template.Annotations["config-hash"] = "2"
	c.mustApply("Deployment", reader)
	c.mustApply("Deployment", other)
	require.Equal(t, "two", c.in("reader", "cat /tmp/read"))
	require.NotSame(t, pods["reader"], c.pod("reader"))
	require.Same(t, pods["other"], c.pod("other"))
}

func TestSecretsAreInMemoryOnly(t *testing.T) {
	c := newCluster(t)
	const canary = "canary-5d1f0c"
	c.mustApply("Secret", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "token", Namespace: namespace}, StringData: map[string]string{"token": canary}})
	from := &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "token"}, Key: "token"}}
	c.mustApply("Deployment", deployment("secret", `printf %s "$TOKEN" | sha256sum > /tmp/env; sha256sum < /secrets/token > /tmp/file; sleep infinity`,
		volume("/secrets", corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "token"}}), readiness(command("test", "-s", "/tmp/file")),
		func(_ *appsv1.Deployment, main *corev1.Container) {
			main.Env = []corev1.EnvVar{{Name: "TOKEN", ValueFrom: from}}
		}))
	want := c.in("secret", "printf "+"canary; printf -- -5d1f0c")
	require.Equal(t, canary, want)
	sums := strings.Fields(c.in("secret", "cat /tmp/env /tmp/file"))
	require.Equal(t, sums[0], sums[2], "the container has it as a variable and as a file")
	require.Equal(t, sums[0], strings.Fields(c.in("secret", `(printf canary; printf -- -5d1f0c) | sha256sum`))[0])

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
	require.ErrorContains(t, wrong.Open(), "Secrets cannot be read with this key")
}

func TestClaimOutlivesPods(t *testing.T) {
	c := newCluster(t)
	d := deployment("store", "sleep infinity", volume("/data", claim("store")), volume("/scratch", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}))
	c.mustApply("Deployment", d)
	c.in("store", "echo kept > /data/file; touch /scratch/file /opt/file")
	d.Spec.Template.Annotations = map[string]string{"config-hash": "2"}
	c.mustApply("Deployment", d)
	require.Equal(t, "kept", c.in("store", "cat /data/file"))
	require.Equal(t, "0", c.in("store", "ls /scratch | wc -l"))
	require.Equal(t, "1", c.in("store", "test -e /opt/file; echo $?"))
	require.NoError(t, c.Delete(t.Context(), "PersistentVolumeClaim", namespace, "store"))
	require.NoDirExists(t, filepath.Join(c.Dir, "claims", namespace, "store"))
}

func TestContainerIsToldBeforeItEnds(t *testing.T) {
	c := newCluster(t)
	c.mustApply("Deployment", deployment("flushing", `trap 'echo flushed > /data/file; exit 0' TERM; touch /tmp/up; while :; do sleep 0.05; done`,
		volume("/data", claim("flushed")), readiness(command("test", "-e", "/tmp/up"))))
	require.NoError(t, c.Delete(t.Context(), "Deployment", namespace, "flushing"))
	raw, err := os.ReadFile(filepath.Join(c.Dir, "claims", namespace, "flushed", "file"))
	require.NoError(t, err)
	require.Equal(t, "flushed\n", string(raw))
	_, runs := c.Region.Machine("pod-flushing")
	require.False(t, runs)
	require.NoDirExists(t, c.Region.Root("pod-flushing"))
	require.Empty(t, c.status("flushing"))
	require.NoError(t, c.Delete(t.Context(), "Deployment", namespace, "flushing"), "what is gone may be deleted again")
}

func TestContainerRunsAsItsUser(t *testing.T) {
	if region.OneUser() {
		t.Skip("without root no second account is to be had")
	}
	c := newCluster(t)
	id := func(n int64) *int64 { return &n }
	security := func(d *appsv1.Deployment, _ *corev1.Container) {
		d.Spec.Template.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: id(10001), RunAsGroup: id(10002), FSGroup: id(10002)}
	}
	script := `id -u > /data/uid; id -g > /data/gid; touch /tmp/up; sleep infinity`
	c.mustApply("Deployment", deployment("plain", script, volume("/data", claim("plain")), security, readiness(command("sh", "-c", "test -e /tmp/up && test $(id -u) = 10001"))))
	require.Equal(t, "10001 10002", c.in("plain", "echo $(cat /data/uid /data/gid)"))
	require.Equal(t, "10001:10002", c.in("plain", "stat -c %u:%g /data"))
	c.mustApply("Deployment", deployment("own", script, volume("/data", claim("own")), security, func(_ *appsv1.Deployment, main *corev1.Container) {
		main.SecurityContext = &corev1.SecurityContext{RunAsUser: id(20001)}
	}, readiness(command("test", "-e", "/tmp/up"))))
	require.Equal(t, "20001 10002", c.in("own", "echo $(cat /data/uid /data/gid)"), "the container's setting is over the pod's")
}

func TestPodsEndWithTheirNodeAndComeBack(t *testing.T) {
	c := newCluster(t)
	c.mustApply("Deployment", deployment("first", "sleep infinity", volume("/data", claim("first"))))
	c.mustApply("Deployment", deployment("second", "sleep infinity"))
	c.in("first", "echo kept > /data/file")
	c.Evict(t.Context())
	for _, name := range []string{"first", "second"} {
		_, runs := c.Region.Machine("pod-" + name)
		require.False(t, runs)
		require.False(t, c.status(name).Running)
	}
	require.NoError(t, c.Restore(t.Context()))
	require.Equal(t, "kept", c.in("first", "cat /data/file"))
	again := c.pod("second")
	require.NoError(t, c.Restore(t.Context()))
	require.Same(t, again, c.pod("second"), "what runs is left alone")

	c.Evict(t.Context())
	require.NoError(t, c.Forget())
	require.Empty(t, c.Statuses(t.Context()))
	require.NoError(t, c.Restore(t.Context()))
	require.NoDirExists(t, filepath.Join(c.Dir, "claims"))
}

func TestWorkloadsAreRefused(t *testing.T) {
	c := newCluster(t)
	two := int32(2)
	for name, d := range map[string]struct {
		change func(*appsv1.Deployment, *corev1.Container)
		fault  string
	}{
		"replicas": {func(d *appsv1.Deployment, _ *corev1.Container) { d.Spec.Replicas = &two }, "Deployment w: spec.replicas is 2"},
		"containers": {func(d *appsv1.Deployment, main *corev1.Container) {
			d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, *main)
		}, "containers has 2 entries"},
		"image":      {func(_ *appsv1.Deployment, main *corev1.Container) { main.Image = "docker.io/test/other:1" }, "no program for it; it knows docker.io/test/none, docker.io/test/shell"},
		"config map": {volume("/x", corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}), `configmap "" not found`},
		"volume":     {volume("/x", corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{}}), "volume v-x: a kind that the local cloud does not know"},
		"mount": {func(_ *appsv1.Deployment, main *corev1.Container) {
			main.VolumeMounts = []corev1.VolumeMount{{Name: "none", MountPath: "/x"}}
		}, `volumeMounts names "none"`},
		"field": {func(_ *appsv1.Deployment, main *corev1.Container) {
			main.Env = []corev1.EnvVar{{Name: "X", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.uid"}}}}
		}, `env X: fieldPath "metadata.uid"`},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, c.apply("Deployment", deployment("w", "sleep infinity", d.change)), d.fault)
			_, runs := c.Region.Machine("pod-w")
			require.False(t, runs)
		})
	}
	c.mustApply("Deployment", deployment("absent", "", func(_ *appsv1.Deployment, main *corev1.Container) { main.Image = "docker.io/test/none:1" }))
	require.Equal(t, kube.Status{Kind: "Deployment", Namespace: namespace, Name: "absent", Reason: "it is not to be had"}, c.status("absent"))
}

// dial connects as an operator or another machine would.
func dial(t *testing.T, address string) error {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err == nil {
		conn.Close()
	}
	return err
}
