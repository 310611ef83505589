package workloads_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/components/workloads"
	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

func TestClusterConfig(t *testing.T) {
	clusterConfig := func(edit func(*workloads.Args)) map[string]string {
		args := sampleArgs()
		edit(args)
		r, err := record(t, args, nil).One("kubernetes:core/v1:ConfigMap", "workloads-cluster-config")
		require.NoError(t, err)
		var cm corev1.ConfigMap
		decodeInputs(t, r, &cm)
		return cm.Data
	}
	require.Equal(t, map[string]string{
		"S3_BUCKET": "data-123", "AWS_REGION": "eu-west-1", "S3_ENDPOINT": "s3.eu-west-1.amazonaws.com",
		"S3_INSECURE": "false", "S3_FORCE_PATH_STYLE": "false",
	}, clusterConfig(func(*workloads.Args) {}))
	require.Equal(t, map[string]string{
		"S3_BUCKET": "data-123", "AWS_REGION": "eu-west-1", "S3_ENDPOINT": "10.0.0.2:7070", "S3_INSECURE": "true", "S3_FORCE_PATH_STYLE": "true",
		"AWS_ENDPOINT_URL_S3": "http://10.0.0.2:7070",
	}, clusterConfig(func(a *workloads.Args) { a.S3Endpoint = "http://10.0.0.2:7070" }))
	require.Equal(t, "s3.cn-north-1.amazonaws.com.cn",
		clusterConfig(func(a *workloads.Args) { a.Region = pulumi.String("cn-north-1") })["S3_ENDPOINT"])
}

func TestStatusServerLoadsItsConfiguration(t *testing.T) {
	r, err := record(t, sampleArgs(), nil).One("kubernetes:core/v1:ConfigMap", "workloads-status-config")
	require.NoError(t, err)
	var cm corev1.ConfigMap
	decodeInputs(t, r, &cm)
	path := filepath.Join(t.TempDir(), "status.json")
	require.NoError(t, os.WriteFile(path, []byte(cm.Data["status.json"]), 0o600))
	config, err := status.LoadConfig(path)
	require.NoError(t, err)
	require.Equal(t, "eu-west-1", config.Region)
	require.Equal(t, platform.NewS3Paths("data-123"), config.S3Paths)
	require.Equal(t, status.Control{
		PrivateIP: "10.0.0.5", OTLP: "10.0.0.5:4317", GrafanaURL: "https://10.0.0.5:3000", StatusURL: "https://10.0.0.5:8080",
	}, config.Control)
	require.Equal(t, []status.Link{
		{Title: "EMR Overview", Service: platform.WorkloadGrafana, Path: "/d/emr-overview"},
		{Title: "EMR Overview", Service: platform.WorkloadVictoriaMetrics, Path: "/vmui/#/dashboards"},
		{Title: "Job Phase Timeline", Service: platform.WorkloadGrafana, Path: "/d/job-phase-timeline"},
		{Title: "Job Phase Timeline", Service: platform.WorkloadVictoriaMetrics, Path: "/vmui/#/dashboards"},
		{Title: "Spark Profiling", Service: platform.WorkloadGrafana, Path: "/d/spark-profiling"},
		{Title: "Spark Profiling", Service: platform.WorkloadVictoriaMetrics, Path: "/vmui/#/dashboards"},
	}, config.Dashboards)
	require.Len(t, config.StepLinks, len(dashboards.StepLinks()))
	require.Equal(t, status.Endpoint{URL: "http://collector:4318", ReadyURL: "http://collector:13133/"},
		config.Endpoints[platform.WorkloadCollector])
}

// Operators' URLs and both servers' certificates have the host under which operators
// reach the node; a tunnel may end at another port.
func TestOperatorsAddresses(t *testing.T) {
	for name, c := range map[string]struct {
		host, grafanaURL, wantGrafana, wantStatus string
		ips                                       []any
	}{
		"private": {"10.0.0.5", "", "https://10.0.0.5:3000", "https://10.0.0.5:8080", []any{"10.0.0.5", "127.0.0.1"}},
		"public": {"52.94.76.9", "", "https://52.94.76.9:3000", "https://52.94.76.9:8080",
			[]any{"10.0.0.5", "127.0.0.1", "52.94.76.9"}},
		"tunnel": {"127.0.0.1", "https://localhost:13000", "https://localhost:13000", "https://127.0.0.1:8080",
			[]any{"10.0.0.5", "127.0.0.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			args := sampleArgs()
			args.ControlHost, args.GrafanaURL = pulumi.String(c.host), c.grafanaURL
			var exported map[string]pulumi.Input
			rec := record(t, args, func(ctx *pulumi.Context, w *workloads.Workloads) {
				ctx.Export("grafana", w.GrafanaURL)
				ctx.Export("status", w.StatusURL)
				exported = ctx.GetCurrentExportMap()
			})
			require.Equal(t, c.wantGrafana, await(t, exported["grafana"]))
			require.Equal(t, c.wantStatus, await(t, exported["status"]))
			for _, server := range []string{"grafana", "status"} {
				request, err := rec.One("tls:index/certRequest:CertRequest", "workloads-"+server+"-request")
				require.NoError(t, err)
				require.Equal(t, c.ips, request.Inputs["ipAddresses"].Mappable())
			}
			cm, err := rec.One("kubernetes:core/v1:ConfigMap", "workloads-status-config")
			require.NoError(t, err)
			text := fmt.Sprint(cm.Inputs["data"].Mappable())
			require.Contains(t, text, `"privateIp": "10.0.0.5"`)
			require.Contains(t, text, c.wantGrafana)
			require.Contains(t, text, c.wantStatus)
		})
	}
}

// await returns the value of an exported output.
func await(t *testing.T, exported pulumi.Input) string {
	t.Helper()
	known := make(chan string, 1)
	exported.(pulumi.StringOutput).ApplyT(func(s string) string { known <- s; return s })
	select {
	case s := <-known:
		return s
	case <-time.After(testenv.Answer.Scaled()):
		require.Fail(t, "the output never resolves")
		return ""
	}
}

func TestSecretsAreMarkedSecret(t *testing.T) {
	var password, status, url, inside pulumi.Output
	rec := record(t, sampleArgs(), func(ctx *pulumi.Context, w *workloads.Workloads) {
		password, status, url, inside = w.GrafanaAdminPassword, w.StatusPassword, w.GrafanaURL, w.Endpoints
		ctx.Export("password", password)
		ctx.Export("status", status)
		ctx.Export("url", url)
		ctx.Export("endpoints", inside)
	})
	require.True(t, pulumi.IsSecret(password))
	require.True(t, pulumi.IsSecret(status))
	require.False(t, pulumi.IsSecret(url), "operators need it")
	accesses := rec.OfType("kubernetes:core/v1:Secret")
	require.Len(t, accesses, 3)
	for _, access := range accesses {
		require.True(t, access.Inputs["stringData"].ContainsSecrets())
	}
	for _, r := range rec.Resources {
		if r.Type == accesses[0].Type {
			continue
		}
		b, err := json.Marshal(plain(r.Inputs))
		require.NoError(t, err)
		for _, s := range []string{"correct-horse", "KEY-OF-", base64.StdEncoding.EncodeToString([]byte("correct-horse"))} {
			require.NotContains(t, string(b), s, r.Name)
		}
	}
}

// plain returns what the state shows in clear: the values with secrets replaced.
func plain(m resource.PropertyMap) any {
	return m.MapRepl(nil, func(v resource.PropertyValue) (any, bool) {
		if v.IsSecret() {
			return "[secret]", true
		}
		return nil, false
	})
}

func TestValidateReportsEveryViolation(t *testing.T) {
	err := (&workloads.Args{S3Endpoint: "10.0.0.2:7070", TempoRetention: time.Minute, LogsRetention: time.Hour}).Validate()
	for _, path := range []string{
		"workloads.region", "workloads.bucket", "workloads.s3Endpoint", "workloads.controlPrivateIp",
		"workloads.controlHost",
		"workloads.controlBinaryUri", "workloads.controlBinarySha256", "workloads.tempoRetention",
		"workloads.pyroscopeRetention", "workloads.logsRetention", "workloads.dataVolumeGiB",
	} {
		require.ErrorContains(t, err, path+":")
	}
	require.NoError(t, sampleArgs().Validate())
	for _, bad := range []string{"ftp://h", "http://h/path", "http://u:p@h", "https://", "http://h?x"} {
		args := sampleArgs()
		args.S3Endpoint = bad
		require.ErrorContains(t, args.Validate(), "workloads.s3Endpoint", bad)
	}
}

// The collector's queues fit its volume, and its own limits are below its
// container's, so that it refuses data before the kernel kills it.
func TestCollectorLimitsNest(t *testing.T) {
	rec := record(t, sampleArgs(), nil)
	decodeObject := func(token, name string, into any) {
		r, err := rec.One(token, name)
		require.NoError(t, err)
		decodeInputs(t, r, into)
	}
	var files corev1.ConfigMap
	decodeObject("kubernetes:core/v1:ConfigMap", "workloads-collector-config", &files)
	var volume corev1.PersistentVolumeClaim
	decodeObject("kubernetes:core/v1:PersistentVolumeClaim", "workloads-collector-data", &volume)
	var pods appsv1.DaemonSet
	decodeObject("kubernetes:apps/v1:DaemonSet", "workloads-collector", &pods)
	var c struct {
		Processors map[string]struct {
			Limit int64 `yaml:"limit_mib"`
		}
		Exporters map[string]struct {
			Queue struct {
				Size int64 `yaml:"queue_size"`
			} `yaml:"sending_queue"`
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(files.Data[workloadconfig.CollectorFile]), &c))

	queues, largest := int64(0), int64(0)
	for name, e := range c.Exporters {
		require.Positive(t, e.Queue.Size, name)
		queues, largest = queues+e.Queue.Size, max(largest, e.Queue.Size)
	}
	require.Less(t, queues, volume.Spec.Resources.Requests.Storage().Value())
	const writeAheadLogs = 2 << 30
	require.LessOrEqual(t, queues+largest+writeAheadLogs, int64(platform.StoreReserveGiB()<<30),
		"the queues, the copy of one, and write-ahead logs")
	container := pods.Spec.Template.Spec.Containers[0]
	soft := slices.IndexFunc(container.Env, func(e corev1.EnvVar) bool { return e.Name == "GOMEMLIMIT" })
	require.GreaterOrEqual(t, soft, 0)
	goLimit := quantity.MustParse(strings.TrimSuffix(container.Env[soft].Value, "B"))
	require.LessOrEqual(t, c.Processors["memory_limiter"].Limit<<20, goLimit.Value())
	require.Less(t, goLimit.Value(), container.Resources.Limits.Memory().Value())
}
