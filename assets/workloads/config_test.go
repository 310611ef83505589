package workloadconfig_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// verify runs a server's own check of its configuration.
func verify(t *testing.T, w platform.Workload, env []string, args ...string) {
	t.Helper()
	binary, err := servers.Find(t.Context(), string(w))
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(cmd.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestServersAcceptTheirConfiguration(t *testing.T) {
	dir := t.TempDir()
	at := func(name, body string) string {
		writeFile(t, filepath.Join(dir, name), body)
		return filepath.Join(dir, name)
	}
	yace, err := yaceFile(t, settings().Tags)
	require.NoError(t, err)
	verify(t, platform.WorkloadYACE, nil, "verify-config", "--config.file="+at("yace.yaml", yace))

	file := func(w platform.Workload, name string) string { return at(name, config(t, w).Files[name]) }
	nodeName := []string{workloadconfig.EnvNodeName + "=n"}
	verify(t, platform.WorkloadCollector, nodeName, "validate", "--config="+file(platform.WorkloadCollector, workloadconfig.CollectorFile))
	verify(t, platform.WorkloadVictoriaMetrics, nodeName,
		"-dryRun", "-promscrape.config="+file(platform.WorkloadVictoriaMetrics, workloadconfig.ScrapeFile))
	environ := []string{
		platform.ConfigBucket + "=b", platform.ConfigRegion + "=r", platform.ConfigS3Endpoint + "=h",
		platform.ConfigS3Insecure + "=false", platform.ConfigS3PathStyle + "=false",
	}
	verify(t, platform.WorkloadTempo, environ,
		"-config.expand-env=true", "-config.verify=true", "-config.file="+file(platform.WorkloadTempo, workloadconfig.TempoFile))
}

// EMR's metrics come from its nodes: CloudWatch's cost money and are less frequent.
func TestYACEQueriesOnlyTheStacksResources(t *testing.T) {
	body, err := yaceFile(t, map[string]string{"stack": "a.b"})
	require.NoError(t, err)
	var c struct {
		Discovery struct {
			ExportedTagsOnMetrics map[string][]string
			Jobs                  []struct {
				Type       string
				Regions    []string
				SearchTags []struct{ Key, Value string }
				Period     int
			}
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(body), &c))
	var kinds []string
	for _, job := range c.Discovery.Jobs {
		kinds = append(kinds, job.Type)
		require.Contains(t, c.Discovery.ExportedTagsOnMetrics, job.Type)
		require.Equal(t, []string{"eu-west-1"}, job.Regions)
		if job.Type == "AWS/EC2" || job.Type == "AWS/EBS" { // of which EMR's have the stack's tags
			require.Len(t, job.SearchTags, 2)
			require.Equal(t, "Name", job.SearchTags[1].Key)
			require.Regexp(t, job.SearchTags[1].Value, "control-instance")
			require.NotRegexp(t, job.SearchTags[1].Value, "emr-main-cluster")
		} else {
			require.Len(t, job.SearchTags, 1)
		}
		require.Regexp(t, job.SearchTags[0].Value, "a.b")
		require.NotRegexp(t, job.SearchTags[0].Value, "axb")
		require.Zero(t, job.Period%300, "CloudWatch's own resolution")
	}
	require.ElementsMatch(t, []string{"AWS/S3", "AWS/EBS", "AWS/EC2", "AWS/ES"}, kinds)

	_, err = yaceFile(t, nil)
	require.ErrorContains(t, err, "no tags")
}

// The collector must not add its own host to what it relays, and every pipeline must
// refuse data before it runs out of memory.
func TestRelayPipelinesAddNoLabels(t *testing.T) {
	var c struct {
		Exporters map[string]struct {
			SendingQueue   struct{ Storage string } `json:"sending_queue"`
			RetryOnFailure struct {
				MaxElapsedTime *int `json:"max_elapsed_time"`
			} `json:"retry_on_failure"`
		}
		Service struct {
			Pipelines map[string]struct{ Receivers, Processors, Exporters []string }
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(config(t, platform.WorkloadCollector).Files[workloadconfig.CollectorFile]), &c))
	require.Len(t, c.Service.Pipelines, 4)
	for name, p := range c.Service.Pipelines {
		require.Equal(t, "memory_limiter", p.Processors[0], name)
		relays := p.Receivers[0] == "otlp"
		for _, processor := range p.Processors {
			require.False(t, relays && (processor == "transform/control" || strings.HasPrefix(processor, "resource")), "%s: %s", name, processor)
		}
	}
	require.Len(t, c.Exporters, 3)
	for name, e := range c.Exporters {
		require.Equal(t, "file_storage", e.SendingQueue.Storage, name)
		require.NotNil(t, e.RetryOnFailure.MaxElapsedTime, name)
		require.Zero(t, *e.RetryOnFailure.MaxElapsedTime, "%s: retries for ever", name)
	}
}

func TestGrafanaRequiresLogin(t *testing.T) {
	env := config(t, platform.WorkloadGrafana).Env
	require.Equal(t, "https", env["GF_SERVER_PROTOCOL"])
	require.Equal(t, "false", env["GF_AUTH_ANONYMOUS_ENABLED"])
	require.Equal(t, "false", env["GF_USERS_ALLOW_SIGN_UP"])
	require.NotContains(t, env, workloadconfig.EnvGrafanaPassword, "the password comes from a Secret")
	require.Regexp(t, `^[a-z-]+@\d+\.\d+\.\d+$`, env["GF_PLUGINS_PREINSTALL_SYNC"])
}

func TestGrafanaTakesACopyOfItsPlugin(t *testing.T) {
	copied := settings()
	copied.GrafanaPlugin = "https://mirror.example.com/plugin.zip"
	require.Equal(t, workloadconfig.GrafanaLogsPlugin+"@https://mirror.example.com/plugin.zip",
		configOf(t, platform.WorkloadGrafana, copied).Env[platform.EnvGrafanaPreinstall])
}

func TestMemoryLimitsFitTheNode(t *testing.T) {
	total := 0
	for _, w := range platform.Workloads() {
		require.Positive(t, w.MemoryMiB, w.Name)
		total += w.MemoryMiB
	}
	const toCome = 128 // alerts
	require.LessOrEqual(t, total+toCome, 7*1024, "8 GiB, beside K3s")
}
