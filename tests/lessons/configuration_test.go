package lessons_test

import (
	"encoding/xml"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/assets/node"
	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// render returns the configuration files of a server.
func render(t *testing.T, s workloadconfig.Server) workloadconfig.Config {
	t.Helper()
	const month = 30 * 24 * time.Hour
	c, err := s.Config(workloadconfig.Settings{
		Workloads:        platform.Workloads(),
		MetricsRetention: month, LogsRetention: month, TempoRetention: month, PyroscopeRetention: month,
		Limits:        schema.Limits{SeriesPerHour: 100_000, LogMiBPerHour: 1024, SpansPerHour: 100_000, ProfilesPerHour: 10_000},
		DataVolumeGiB: 100, Tags: map[string]string{"observatory:stack": "dev"},
	})
	require.NoError(t, err)
	return c
}

// serverFile returns a rendered file of a server, parsed as YAML.
func serverFile(t *testing.T, name platform.Workload, file string) map[string]any {
	t.Helper()
	for _, s := range workloadconfig.Servers() {
		if s.Name == name {
			return parseYAML(t, render(t, s).Files[file])
		}
	}
	require.Failf(t, "no such server", "%s", name)
	return nil
}

// nodeCollector returns the configuration of the nodes' collector.
func nodeCollector(t *testing.T) map[string]any {
	t.Helper()
	config, err := node.CollectorConfig()
	require.NoError(t, err)
	return parseYAML(t, string(config))
}

func parseYAML(t *testing.T, text string) map[string]any {
	t.Helper()
	var document map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &document))
	require.NotEmpty(t, document)
	return document
}

// section returns the nested map under the keys.
func section(t *testing.T, document map[string]any, keys ...string) map[string]any {
	t.Helper()
	for _, key := range keys {
		next, ok := document[key].(map[string]any)
		require.True(t, ok, "no section %s", key)
		document = next
	}
	return document
}

// keysOf lists the keys of all maps in a document.
func keysOf(document any) []string {
	var keys []string
	switch document := document.(type) {
	case map[string]any:
		for key, value := range document {
			keys = append(append(keys, key), keysOf(value)...)
		}
	case []any:
		for _, value := range document {
			keys = append(keys, keysOf(value)...)
		}
	}
	return keys
}

func TestNothingGeneratesSpanMetrics(t *testing.T) {
	tempo := serverFile(t, platform.WorkloadTempo, workloadconfig.TempoFile)
	require.Contains(t, keysOf(tempo), "ingester")
	for _, key := range keysOf(tempo) {
		require.NotContains(t, key, "metrics_generator", "Tempo would generate span metrics")
	}
	generates := regexp.MustCompile(`span_?metrics|service_?graph|exceptions`)
	for name, collector := range map[string]map[string]any{
		"control node": serverFile(t, platform.WorkloadCollector, workloadconfig.CollectorFile),
		"nodes":        nodeCollector(t),
	} {
		_, found := collector["connectors"]
		require.False(t, found, "the collector of the %s has connectors", name)
		pipelines := section(t, collector, "service", "pipelines")
		require.Contains(t, pipelines, "traces", name)
		for pipeline := range pipelines {
			for _, component := range []string{"receivers", "processors", "exporters"} {
				for _, used := range section(t, pipelines, pipeline)[component].([]any) {
					require.NotRegexp(t, generates, used, "%s of pipeline %s, %s", component, pipeline, name)
				}
			}
		}
	}
}

func TestServersKeepDataOnVolumes(t *testing.T) {
	var writers []platform.Workload
	for _, s := range workloadconfig.Servers() {
		c := render(t, s)
		text := strings.Join(c.Args, " ") + fmt.Sprint(c.Env, c.Files)
		if !strings.Contains(text, workloadconfig.DataDir) {
			continue
		}
		require.Positive(t, s.DiskGiB, "%s writes to %s, but has no volume", s.Name, workloadconfig.DataDir)
		writers = append(writers, s.Name)
	}
	require.Subset(t, writers, []platform.Workload{
		platform.WorkloadCollector, platform.WorkloadVictoriaMetrics, platform.WorkloadVictoriaLogs,
		platform.WorkloadTempo, platform.WorkloadPyroscope,
	})
}

func TestLogPathsAreCollected(t *testing.T) {
	var globs []string
	for name, receiver := range section(t, nodeCollector(t), "receivers") {
		if strings.HasPrefix(name, "file_log/") {
			for _, glob := range receiver.(map[string]any)["include"].([]any) {
				globs = append(globs, glob.(string))
			}
		}
	}
	paths := []string{path.Join(containerLogDir(t), "application_1_0001", "container_1_0001_01_000001", "stderr")}
	for _, role := range []string{platform.RoleMaster, platform.RoleCore, platform.RoleTask} {
		for _, d := range append(hadoop.Node{Role: role}.Daemons(), hadoop.HistoryServer()) {
			paths = append(paths, "/var/log/"+d.Log+"-ip-10-0-0-1.log")
		}
	}
	for _, file := range paths {
		require.True(t, slices.ContainsFunc(globs, func(glob string) bool {
			match, err := path.Match(glob, file)
			require.NoError(t, err)
			return match
		}), "no receiver reads %s", file)
	}
}

// containerLogDir returns the folder in which YARN's rendered configuration puts container logs.
func containerLogDir(t *testing.T) string {
	t.Helper()
	files := hadoop.Files(hadoop.Node{Role: platform.RoleCore, Host: "ip-10-0-0-1", MasterHost: "ip-10-0-0-2"})
	var site struct {
		Properties []struct {
			Name  string `xml:"name"`
			Value string `xml:"value"`
		} `xml:"property"`
	}
	require.NoError(t, xml.Unmarshal([]byte(files[platform.EMRHadoopConfDir+"/yarn-site.xml"]), &site))
	for _, p := range site.Properties {
		if p.Name == "yarn.nodemanager.log-dirs" {
			return p.Value
		}
	}
	require.Fail(t, "yarn-site.xml has no yarn.nodemanager.log-dirs")
	return ""
}

// TestIntervalsAgree compares the rendered intervals with the two constants from which
// the dashboards derive their rate intervals.
func TestIntervalsAgree(t *testing.T) {
	receivers := section(t, nodeCollector(t), "receivers")
	require.Equal(t, platform.CollectionInterval, duration(t, section(t, receivers, "hostmetrics"), "collection_interval"))
	want := map[string]time.Duration{
		platform.ServiceYARN: platform.DaemonCollectionInterval, platform.ServiceHDFS: platform.DaemonCollectionInterval,
		platform.ServiceNodeCollector: platform.CollectionInterval,
	}
	jobs := section(t, receivers, "prometheus", "config")["scrape_configs"].([]any)
	require.Len(t, jobs, len(want))
	for _, job := range jobs {
		job := job.(map[string]any)
		require.Equal(t, want[job["job_name"].(string)], duration(t, job, "scrape_interval"), job["job_name"])
	}
	scrape := serverFile(t, platform.WorkloadVictoriaMetrics, workloadconfig.ScrapeFile)
	require.Equal(t, platform.DaemonCollectionInterval, duration(t, section(t, scrape, "global"), "scrape_interval"))
}

func duration(t *testing.T, section map[string]any, key string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(fmt.Sprint(section[key]))
	require.NoError(t, err)
	return d
}
