package workloads_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi-tls/sdk/v5/go/tls"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/components/workloads"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

var update = flag.Bool("update", false, "write the golden files")

const hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

func sampleArgs() *workloads.Args {
	return &workloads.Args{
		Region: pulumi.String("eu-west-1"), Bucket: pulumi.String("data-123"),
		ControlPrivateIP: pulumi.String("10.0.0.5"), ControlHost: pulumi.String("10.0.0.5"),
		ControlBinaryURI: pulumi.String("s3://data-123/artifacts/" + hash + "/observatory"), ControlBinarySHA256: pulumi.String(hash),
		ProfilerBinaryURI:    pulumi.String("s3://data-123/artifacts/" + hash + "/observatory-profiler"),
		ProfilerBinarySHA256: pulumi.String(hash), Profiler: schema.Defaults().Profiler,
		BootstrapHash:  pulumi.String(hash),
		ToolsRoleARN:   pulumi.String("arn:aws:iam::123456789012:role/control-tools-role"),
		TempoRetention: 14 * 24 * time.Hour, PyroscopeRetention: 7 * 24 * time.Hour,
		MetricsRetention: 30 * 24 * time.Hour, LogsRetention: 14 * 24 * time.Hour, DataVolumeGiB: 100,
		Limits: schema.Limits{SeriesPerHour: 100_000, LogMiBPerHour: 1024, SpansPerHour: 100_000, ProfilesPerHour: 10_000},
	}
}

// record runs the component with its three explicit providers and passes it to
// see.
func record(t *testing.T, args *workloads.Args, inspect func(*pulumi.Context, *workloads.Workloads)) *recorder.Recording {
	t.Helper()
	return recordServers(t, args, workloadconfig.Servers(), inspect)
}

func recordServers(
	t *testing.T, args *workloads.Args, servers []workloadconfig.Server, inspect func(*pulumi.Context, *workloads.Workloads),
) *recorder.Recording {
	t.Helper()
	return recordComputed(t, args, servers, computed, inspect)
}

// computed are the outputs of certificates and passwords.
func computed(r recorder.Resource) resource.PropertyMap {
	secret := func(s string) resource.PropertyValue { return resource.MakeSecret(resource.NewStringProperty(s)) }
	switch {
	case strings.HasPrefix(r.Type, "tls:"):
		return resource.PropertyMap{
			"privateKeyPem": secret("KEY-OF-" + r.Name), "certPem": resource.NewStringProperty("CERT-OF-" + r.Name),
			"certRequestPem": resource.NewStringProperty("REQUEST-OF-" + r.Name),
		}
	case strings.HasSuffix(r.Type, "RandomPassword"):
		return resource.PropertyMap{"result": secret("correct-horse-" + r.Name)}
	}
	return nil
}

func recordComputed(
	t *testing.T, args *workloads.Args, servers []workloadconfig.Server, compute func(recorder.Resource) resource.PropertyMap,
	inspect func(*pulumi.Context, *workloads.Workloads),
) *recorder.Recording {
	t.Helper()
	rec, err := recorder.Run(func(ctx *pulumi.Context) error {
		k8s, err := kubernetes.NewProvider(ctx, "main", &kubernetes.ProviderArgs{})
		if err != nil {
			return err
		}
		rnd, err := random.NewProvider(ctx, "main", &random.ProviderArgs{})
		if err != nil {
			return err
		}
		ca, err := tls.NewProvider(ctx, "main", &tls.ProviderArgs{})
		if err != nil {
			return err
		}
		machine, err := random.NewRandomPet(ctx, "machine", &random.RandomPetArgs{}, pulumi.Provider(rnd))
		if err != nil {
			return err
		}
		w, err := workloads.NewWithServers(ctx, "workloads", args, servers, pulumi.Providers(k8s, rnd, ca), pulumi.DeletedWith(machine))
		if err == nil && inspect != nil {
			inspect(ctx, w)
		}
		return err
	}, recorder.WithComputed(compute))
	require.NoError(t, err)
	return rec
}

func TestResourceNames(t *testing.T) {
	rec := record(t, sampleArgs(), nil)
	golden := filepath.Join("testdata", "resources.golden")
	got := strings.Join(rec.List(), "\n") + "\n"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "names are public: add an alias for each renamed one, then go test . -update")
	require.Empty(t, rec.Defaults, "only explicit providers")
	ns, err := rec.One("kubernetes:core/v1:Namespace", "workloads-namespace")
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(ns.Inputs), "restricted")
	for _, r := range rec.Resources {
		if r.Component || strings.HasPrefix(r.Type, "pulumi:") || r.Name == "machine" {
			continue
		}
		require.Equal(t, "workloads", r.Parent, r.Name)
		require.Equal(t, "machine", r.DeletedWith, r.Name)
	}
}

// pods decodes every workload's pod template into Kubernetes' own types: an unknown
// or misspelt field fails.
func pods(t *testing.T, rec *recorder.Recording) map[platform.Workload]corev1.PodTemplateSpec {
	t.Helper()
	out := map[platform.Workload]corev1.PodTemplateSpec{}
	for _, r := range rec.OfType("kubernetes:apps/v1:Deployment") {
		var d appsv1.Deployment
		decodeInputs(t, r, &d)
		require.Equal(t, appsv1.RecreateDeploymentStrategyType, d.Spec.Strategy.Type, r.Name)
		require.Equal(t, d.Spec.Selector.MatchLabels, d.Spec.Template.Labels)
		out[platform.Workload(d.Name)] = d.Spec.Template
	}
	for _, r := range rec.OfType("kubernetes:apps/v1:DaemonSet") {
		var d appsv1.DaemonSet
		decodeInputs(t, r, &d)
		out[platform.Workload(d.Name)] = d.Spec.Template
	}
	return out
}

func decodeInputs(t *testing.T, r recorder.Resource, into any) {
	t.Helper()
	b, err := json.Marshal(r.Inputs.Mappable())
	require.NoError(t, err)
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(into), r.Name)
}

func TestPodsAreUnprivileged(t *testing.T) {
	all := pods(t, record(t, sampleArgs(), nil))
	require.Len(t, all, len(platform.Workloads()))
	for workload, pod := range all {
		s := pod.Spec
		require.False(t, s.HostNetwork || s.HostPID || s.HostIPC, workload)
		require.False(t, *s.AutomountServiceAccountToken, "%s does not use the Kubernetes API", workload)
		require.Equal(t, string(workload), s.ServiceAccountName)
		require.True(t, *s.SecurityContext.RunAsNonRoot)
		require.Positive(t, *s.SecurityContext.RunAsUser)
		require.Equal(t, *s.SecurityContext.RunAsUser, *s.SecurityContext.FSGroup)
		require.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, s.SecurityContext.SeccompProfile.Type)
		for _, v := range s.Volumes {
			require.Nil(t, v.HostPath, "%s: blocks are in S3, the rest on claims", workload)
		}
		for _, c := range slices.Concat(s.InitContainers, s.Containers) {
			require.False(t, *c.SecurityContext.AllowPrivilegeEscalation, c.Name)
			require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem, c.Name)
			require.Equal(t, []corev1.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop)
			require.NotContains(t, c.Image, ":latest")
			require.Positive(t, c.Resources.Limits.Memory().Value(), c.Name)
			require.Positive(t, c.Resources.Requests.Cpu().MilliValue(), c.Name)
			require.Equal(t, platform.ClusterConfigMap, c.EnvFrom[0].ConfigMapRef.Name)
		}
		main := s.Containers[0]
		require.Equal(t, string(workload), main.Name)
		require.Equal(t, imageOf(t, workload).Ref(), main.Image)
		require.NotNil(t, main.ReadinessProbe.HTTPGet, workload)
		require.NotNil(t, main.LivenessProbe.TCPSocket, workload)
	}
}

func TestNodeOpensOnlyDeclaredPorts(t *testing.T) {
	rec := record(t, sampleArgs(), nil)
	for workload, pod := range pods(t, rec) {
		for _, p := range pod.Spec.Containers[0].Ports {
			require.Zero(t, p.HostPort, workload)
		}
	}
	var got []int
	for _, r := range rec.OfType("kubernetes:core/v1:Service") {
		var s corev1.Service
		decodeInputs(t, r, &s)
		for _, p := range s.Spec.Ports {
			if s.Spec.Type != corev1.ServiceTypeNodePort {
				require.Zero(t, p.NodePort, s.Name)
				continue
			}
			require.Equal(t, p.Port, p.NodePort, "%s keeps its number", s.Name)
			require.Equal(t, corev1.ServiceExternalTrafficPolicyLocal, s.Spec.ExternalTrafficPolicy)
			got = append(got, int(p.NodePort))
		}
	}
	slices.Sort(got)
	require.Equal(t, []int{int(platform.Grafana), int(platform.Pyroscope), int(platform.OTLPGRPC), int(platform.OTLPHTTP),
		int(platform.Tools), int(platform.Status)}, got)
}

func TestEveryEndpointIsAServicePort(t *testing.T) {
	rec := record(t, sampleArgs(), nil)
	open := map[string]bool{}
	for _, r := range rec.OfType("kubernetes:core/v1:Service") {
		var s corev1.Service
		decodeInputs(t, r, &s)
		pods := strings.TrimSuffix(s.Name, "-node")
		if s.Name == "pyroscope-node" {
			pods = "redelivery" // nodes reach no more of Pyroscope than the relay lets through
			require.Equal(t, int(platform.ProfileIntake), s.Spec.Ports[0].TargetPort.IntValue())
		}
		require.Equal(t, pods, s.Spec.Selector["app.kubernetes.io/name"])
		for _, p := range s.Spec.Ports {
			open[s.Name+":"+p.TargetPort.String()] = true
		}
	}
	for _, w := range platform.Workloads() {
		for _, u := range []string{w.URL(), w.ReadyURL()} {
			host := strings.SplitN(strings.SplitN(u, "://", 2)[1], "/", 2)[0]
			require.True(t, open[host], "%s is no Service port", host)
		}
	}
}

func TestMountsHaveVolumesAndFiles(t *testing.T) {
	rec := record(t, sampleArgs(), nil)
	files := map[string]map[string]string{}
	for _, r := range rec.OfType("kubernetes:core/v1:ConfigMap") {
		var cm corev1.ConfigMap
		decodeInputs(t, r, &cm)
		files[cm.Name] = cm.Data
	}
	named := 0
	for workload, pod := range pods(t, rec) {
		volumes := map[string]corev1.Volume{}
		for _, v := range pod.Spec.Volumes {
			volumes[v.Name] = v
		}
		at := map[string]corev1.Volume{}
		for _, m := range pod.Spec.Containers[0].VolumeMounts {
			require.Contains(t, volumes, m.Name, workload)
			at[m.MountPath] = volumes[m.Name]
		}
		require.Len(t, at, len(volumes), "%s: every volume is mounted once", workload)
		for _, arg := range slices.Concat(pod.Spec.Containers[0].Command, pod.Spec.Containers[0].Args) {
			if i := strings.Index(arg, workloadconfig.ConfigDir+"/"); i >= 0 {
				require.Contains(t, files[at[workloadconfig.ConfigDir].ConfigMap.Name], filepath.Base(arg[i:]), workload)
				named++
			}
		}
	}
	require.Equal(t, 8, named, "configuration files named on command lines")
}

func TestEditRestartsOnlyItsReaders(t *testing.T) {
	hashes := func(args *workloads.Args) map[platform.Workload]string {
		out := map[platform.Workload]string{}
		for w, pod := range pods(t, record(t, args, nil)) {
			out[w] = pod.Annotations["observatory/config-hash"]
			require.Len(t, out[w], 64)
		}
		return out
	}
	before := hashes(sampleArgs())
	for _, c := range []struct {
		what    string
		edit    func(*workloads.Args)
		restart []platform.Workload
	}{
		{"nothing", func(*workloads.Args) {}, nil},
		{"Tempo's retention", func(a *workloads.Args) { a.TempoRetention *= 2 }, []platform.Workload{platform.WorkloadTempo}},
		{"Pyroscope's retention", func(a *workloads.Args) { a.PyroscopeRetention *= 2 }, []platform.Workload{platform.WorkloadPyroscope}},
		{"own binary", func(a *workloads.Args) { a.ControlBinarySHA256 = pulumi.String(strings.Repeat("0", 64)) },
			[]platform.Workload{platform.WorkloadTempo, platform.WorkloadStatus, platform.WorkloadRedelivery}},
		{"the profiler's binary", func(a *workloads.Args) { a.ProfilerBinarySHA256 = pulumi.String(strings.Repeat("0", 64)) },
			[]platform.Workload{platform.WorkloadProfiler, platform.WorkloadTools}},
		{"what the profiler reads", func(a *workloads.Args) { a.Profiler.MaxClusters = 7 }, []platform.Workload{platform.WorkloadProfiler}},
		{"control node's address", func(a *workloads.Args) { a.ControlPrivateIP = pulumi.String("10.0.0.6") },
			[]platform.Workload{platform.WorkloadStatus}},
		{"operators' address", func(a *workloads.Args) { a.ControlHost = pulumi.String("52.94.76.9") },
			[]platform.Workload{platform.WorkloadStatus}},
	} {
		args := sampleArgs()
		c.edit(args)
		var changed []platform.Workload
		for w, h := range hashes(args) {
			if before[w] != h {
				changed = append(changed, w)
			}
		}
		require.ElementsMatch(t, c.restart, changed, c.what)
	}
	args := sampleArgs()
	args.Bucket = pulumi.String("other")
	for w, h := range hashes(args) {
		require.NotEqual(t, before[w], h, "%s takes cluster-config as its environment", w)
	}
}

func imageOf(t *testing.T, w platform.Workload) platform.Image {
	t.Helper()
	r, err := platform.Workloads().Get(w)
	require.NoError(t, err)
	return r.Image
}
