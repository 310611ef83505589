package kube_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/kube"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/localcloud/region/regiontest"
)

func TestMain(m *testing.M) { os.Exit(regiontest.Main(m)) }

const (
	namespace   = "observatory"
	testTimeout = testenv.Arrival
	// controlAddress is the address of the node, which has the host and node ports.
	controlAddress = "10.0.3.1"
	nodeInPods     = regiontest.PodsPrefix + ".2"
)

// cluster is a runner with a node for its pods.
type cluster struct {
	*kube.Runner
	t       *testing.T
	claims  string
	exposed map[string]string
}

// newCluster boots a node and opens a runner of pods on it.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	r := regiontest.Region(t)
	control, err := r.Boot(t.Context(), machine.Spec{
		Name: "i-control", Hostname: "ip-10-0-3-1", Domain: "ec2.internal",
		Addresses: []string{fmt.Sprintf("%s/%d", controlAddress, regiontest.Prefix), nodeInPods + "/24"},
		Gateway:   regiontest.Gateway,
	})
	require.NoError(t, err)
	c := &cluster{t: t, claims: filepath.Join(t.TempDir(), "claims"), exposed: map[string]string{}}
	c.Runner = &kube.Runner{
		Region: r, Dir: filepath.Join(t.TempDir(), "kube"), Memory: "/run/kube-test", Key: "the passphrase",
		Images: map[string]kube.Image{
			"docker.io/test/shell":    {Entrypoint: []string{"/bin/bash", "-c"}, Cmd: []string{"sleep infinity"}},
			"docker.io/test/none":     {Absent: "it has no build"},
			"docker.io/test/stand-in": {Absent: "it has no build", StandIn: regiontest.Gateway},
			"docker.io/test/true":     {Binary: "/bin/true", Entrypoint: []string{"/server"}},
			"docker.io/test/own": {
				Binary: "/bin/bash", Entrypoint: []string{"/server", "-c"}, Env: map[string]string{"FROM": "image"},
				Binds: []machine.Bind{{From: "/etc/hostname", To: "/opt/own", ReadOnly: true}},
			},
		},
		Pods: regiontest.PodsPrefix, Gateway: regiontest.PodsGateway, Node: nodeInPods,
		Control: func() (*region.Machine, machine.Metadata, error) { return control, machine.Metadata{}, nil },
		Claims:  func() (string, error) { return c.claims, nil },
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

// deployment returns a Deployment whose only container runs a shell script.
func deployment(name, script string, change ...func(*appsv1.Deployment, *corev1.Container)) *appsv1.Deployment {
	var d appsv1.Deployment
	d.Name, d.Namespace = name, namespace
	seconds := int32(testTimeout.Scaled().Seconds())
	d.Spec.ProgressDeadlineSeconds = &seconds
	d.Spec.Template.Labels = map[string]string{"app": name}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: name, Image: "docker.io/test/shell:1@sha256:00", Args: []string{script}}}
	for _, f := range change {
		f(&d, &d.Spec.Template.Spec.Containers[0])
	}
	return &d
}

// volume returns a change that mounts a volume in the container.
func volume(path string, source corev1.VolumeSource) func(*appsv1.Deployment, *corev1.Container) {
	return func(d *appsv1.Deployment, c *corev1.Container) {
		name := "v" + strings.ReplaceAll(path, "/", "-")
		d.Spec.Template.Spec.Volumes = append(d.Spec.Template.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path})
	}
}

func claimVolume(name string) corev1.VolumeSource {
	return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
}

// readiness returns a change that sets the readiness probe.
func readiness(h corev1.ProbeHandler) func(*appsv1.Deployment, *corev1.Container) {
	return func(_ *appsv1.Deployment, c *corev1.Container) { c.ReadinessProbe = &corev1.Probe{ProbeHandler: h} }
}

func execProbe(argv ...string) corev1.ProbeHandler {
	return corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: argv}}
}

// progressDeadline returns a change that sets spec.progressDeadlineSeconds.
func progressDeadline(seconds int32) func(*appsv1.Deployment, *corev1.Container) {
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

// pod returns the machine of a workload's pod.
func (c *cluster) pod(name string) *region.Machine {
	c.t.Helper()
	m, ok := c.Region.Machine("pod-" + name)
	require.True(c.t, ok, "pod of %s", name)
	return m
}

// runIn runs a script in a pod and returns its output.
func (c *cluster) runIn(name, script string) string {
	c.t.Helper()
	res, err := c.pod(name).Run(c.t.Context(), machine.Exec{Argv: []string{"bash", "-c", script}})
	require.NoError(c.t, err)
	require.Zero(c.t, res.ExitCode, res.Tail)
	return strings.TrimSpace(res.Tail)
}

// status returns the workload's status; an empty one if there is no such workload.
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
