package workloadconfig

import (
	"fmt"
	"maps"
	"path"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/platform"
)

// ProfilerFile is the profiler's configuration in ConfigDir: its options by name
// (docs/reference/profiler-options.md).
const ProfilerFile = "profiler.yaml"

// profilerThreads is how many clusters, and applications of one, are read at a time. Each
// application takes memory for its rows, and nobody waits for a run of the workload.
const profilerThreads = 1

// profilerGOGC lets the heap grow to three times what lives before garbage is collected: half
// as often as by default, which is 4 % of the CPU time of reading a log. GOMEMLIMIT bounds it.
const profilerGOGC = "200"

// profilerMemoryPercent is goMemoryPercent of the profiler. Besides its runtime's memory, it
// needs about 55 MiB for the program's own pages (history_parse_mib of `make bench`).
const profilerMemoryPercent = 70

// lakeOptions are the options that say where the history is.
func lakeOptions(f map[Fact]string) map[string]any {
	return map[string]any{
		"environment": "prod", "aws_region": f[FactRegion], "s3_output_path": platform.PrefixHistory.URI(f[FactBucket]),
	}
}

// Profiler configures `observatory-profiler serve`, which reads the history of EMR's
// clusters at an interval and writes it to the lake. It keeps nothing on the node.
func Profiler(r platform.WorkloadRecord, s Settings) (Config, error) {
	env := goMemoryLimit(r, profilerMemoryPercent)
	env["GOGC"] = profilerGOGC
	return Config{
		Args: []string{
			"serve", "--config=" + path.Join(ConfigDir, ProfilerFile), "--listen-address=" + listen(r.EndpointPort()),
			fmt.Sprintf("--interval-minutes=%d", s.Profiler.IntervalMinutes),
			"--password-file=" + path.Join(accessDir, platform.AccessPassword),
		},
		// The status server wakes it with its own password.
		SecretFiles: []SecretFiles{{
			Secret: platform.AccessSecret(platform.WorkloadStatus), Volume: "access", Dir: accessDir, Keys: []string{platform.AccessPassword},
		}},
		Env: env,
		LateFiles: map[string]LateFile{ProfilerFile: {
			Needs: []Fact{FactRegion, FactBucket},
			Render: func(f map[Fact]string) (string, error) {
				options := lakeOptions(f)
				maps.Copy(options, map[string]any{
					"cluster_states": strings.Join(s.Profiler.ClusterStates, ","), "cluster_name_filter": s.Profiler.NameFilter,
					"max_clusters": s.Profiler.MaxClusters, "include_tasks": s.Profiler.IncludeTasks,
					"retention_days":      s.Profiler.RetentionDays,
					"compact":             true, // the tables in Glue are the compacted ones (package components/lake)
					"max_cluster_threads": profilerThreads, "max_app_threads": profilerThreads,
					"cluster_tags": platform.TagPairs(s.Profiler.ClusterTags(s.Stack)),
				})
				if most := s.Profiler.PersistentUIs(); most > 0 {
					options["max_persistent_uis"] = most
				}
				body, err := yaml.Marshal(options)
				if err != nil {
					return "", fmt.Errorf("render %s: %w", ProfilerFile, err)
				}
				return string(body), nil
			},
		}},
	}, nil
}
