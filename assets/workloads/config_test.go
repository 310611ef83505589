package workloadconfig_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/localcloud/servers"
	"github.com/emr-observatory/emr-observatory/platform"
)

// verify gives a server's own word on a file.
func verify(t *testing.T, w platform.Workload, env []string, args ...string) {
	t.Helper()
	binary, err := servers.Find(t.Context(), string(w))
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(cmd.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestServersAcceptTheirFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name, body string) string {
		put(t, filepath.Join(dir, name), body)
		return filepath.Join(dir, name)
	}
	yace, err := workloadconfig.YACE("eu-west-1", map[string]string{"observatory:stack": "dev.1", "observatory:project": "emr"})
	require.NoError(t, err)
	verify(t, platform.WorkloadYACE, nil, "verify-config", "--config.file="+at("yace.yaml", yace))

	collector, err := workloadconfig.Collector()
	require.NoError(t, err)
	verify(t, platform.WorkloadCollector, []string{workloadconfig.EnvNodeName + "=n"}, "validate", "--config="+at("collector.yaml", collector.Files[workloadconfig.CollectorFile]))

	metrics, err := workloadconfig.VictoriaMetrics(month)
	require.NoError(t, err)
	verify(t, platform.WorkloadVictoriaMetrics, []string{workloadconfig.EnvNodeName + "=n"}, "-dryRun", "-promscrape.config="+at("scrape.yaml", metrics.Files[workloadconfig.ScrapeFile]))

	tempo, err := workloadconfig.Tempo(month)
	require.NoError(t, err)
	environ := []string{platform.ConfigBucket + "=b", platform.ConfigRegion + "=r", platform.ConfigS3Endpoint + "=h", platform.ConfigS3Insecure + "=false", platform.ConfigS3PathStyle + "=false"}
	verify(t, platform.WorkloadTempo, environ, "-config.expand-env=true", "-config.verify=true", "-config.file="+at("tempo.yaml", tempo.Files[workloadconfig.TempoFile]))
}

// EMR's own metrics come from its nodes; CloudWatch's would cost and say less.
func TestCloudWatchIsAskedOnlyForTheStacksOwn(t *testing.T) {
	body, err := workloadconfig.YACE("eu-west-1", map[string]string{"stack": "a.b"})
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
		require.Len(t, job.SearchTags, 1)
		require.Regexp(t, regexp.MustCompile(job.SearchTags[0].Value), "a.b")
		require.NotRegexp(t, regexp.MustCompile(job.SearchTags[0].Value), "axb")
		require.Zero(t, job.Period%300, "CloudWatch's own grain")
	}
	require.ElementsMatch(t, []string{"AWS/S3", "AWS/EBS", "AWS/EC2", "AWS/ES"}, kinds)

	_, err = workloadconfig.YACE("eu-west-1", nil)
	require.ErrorContains(t, err, "no tags")
}

// A relay must not stamp its own host on what it relays, and every pipeline
// must be able to refuse before it dies.
func TestRelayPipelinesOnlyRelay(t *testing.T) {
	config, err := workloadconfig.Collector()
	require.NoError(t, err)
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
	require.NoError(t, yaml.Unmarshal([]byte(config.Files[workloadconfig.CollectorFile]), &c))
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
		require.Zero(t, *e.RetryOnFailure.MaxElapsedTime, "%s: without end", name)
	}
}

func TestGrafanaLetsNobodyInByDefault(t *testing.T) {
	env := workloadconfig.Grafana().Env
	require.Equal(t, "https", env["GF_SERVER_PROTOCOL"])
	require.Equal(t, "false", env["GF_AUTH_ANONYMOUS_ENABLED"])
	require.Equal(t, "false", env["GF_USERS_ALLOW_SIGN_UP"])
	require.NotContains(t, env, workloadconfig.EnvGrafanaPassword, "the password comes from a Secret")
	require.Regexp(t, `^[a-z-]+@\d+\.\d+\.\d+$`, env["GF_PLUGINS_PREINSTALL_SYNC"])
}

func TestMemoryOfAllWorkloadsFitsTheNode(t *testing.T) {
	total := 0
	for w := range platform.Images {
		require.Positive(t, workloadconfig.MemoryOf(w).MiB, w)
		total += workloadconfig.MemoryOf(w).MiB
	}
	require.LessOrEqual(t, total, 7*1024, "a node of 8 GiB holds them beside K3s")
}
