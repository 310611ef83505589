package explain_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/cost"
	"github.com/emr-observatory/emr-observatory/explain"
	"github.com/emr-observatory/emr-observatory/schema/presets"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// explained returns the explanation of a configuration's only cluster.
func explained(t *testing.T, cluster string) explain.Cluster {
	t.Helper()
	clusters := fmt.Sprintf(`{"etl":%s}`, cluster)
	cfg, err := config.Parse(map[string]string{"region": "us-east-1", "operatorCidrs": `["203.0.113.0/24"]`, "clusters": clusters})
	require.NoError(t, err)
	out, err := explain.Clusters(clusters, cfg, cost.Of(cfg))
	require.NoError(t, err)
	require.Len(t, out, 1)
	return out[0]
}

// of returns the cluster of a preset as a configuration has it.
func of(preset, more string) string {
	steps := ""
	if preset == "transient" {
		steps = `,"steps":[{"name":"job","args":["spark-submit","s3://bucket/job.py"]}]`
	}
	return fmt.Sprintf(`{"preset":%q%s%s}`, preset, steps, more)
}

// Every leaf of every preset is named as the preset's, every other one as a default.
func TestEveryValueHasASetter(t *testing.T) {
	for _, name := range presets.Names() {
		t.Run(name, func(t *testing.T) {
			c := explained(t, of(name, ""))
			require.NotEmpty(t, c.Purpose)
			by := map[string]string{}
			for _, v := range c.Values {
				require.Contains(t, []string{explain.ByDefault, explain.ByPreset, explain.ByUser}, v.By, v.Path)
				require.NotContains(t, by, v.Path, "twice")
				by[v.Path] = v.By
			}
			preset, _ := presets.Named(name)
			for path := range leavesOf(preset.For("emr-7.10.0"), "") {
				require.Equal(t, explain.ByPreset, by[path], "%s; known: %v", path, by)
				delete(by, path)
			}
			for path, setter := range by {
				if path != "preset" && !strings.HasPrefix(path, "steps") && !strings.HasSuffix(path, ".classification") {
					require.Equal(t, explain.ByDefault, setter, path)
				}
			}
		})
	}
}

// leavesOf lists the paths of scalars, and of lists of scalars, below a raw value.
func leavesOf(value any, path string) map[string]bool {
	out := map[string]bool{}
	add := func(more map[string]bool) {
		for p := range more {
			out[p] = true
		}
	}
	switch v := value.(type) {
	case map[string]any:
		for key, entry := range v {
			add(leavesOf(entry, strings.TrimPrefix(path+"."+key, ".")))
		}
	case []any:
		for i, entry := range v {
			if _, scalar := entry.(string); scalar {
				return map[string]bool{path: true}
			}
			add(leavesOf(entry, fmt.Sprintf("%s[%d]", path, i)))
		}
	default:
		out[path] = true
	}
	return out
}

// Whatever of a preset a user sets again is named as the user's, with the user's value, and
// nothing else changes.
func TestOverridesWin(t *testing.T) {
	overrides := map[string]string{ // by path: the key, and its value as explain prints it
		"core.count": `"core":{"count":7}`, "stepConcurrency": `"stepConcurrency":3`, "tasks.batch.count": `"tasks":{"batch":{"count":9}}`,
		"glueCatalog": `"glueCatalog":false`,
		"sparkDefaults.spark.dynamicAllocation.maxExecutors": `"sparkDefaults":{"spark.dynamicAllocation.maxExecutors":"77"}`,
		"applications": `"applications":["Spark","Hadoop","Hive"]`,
		"configurations[0].properties.hive.exec.parallel.thread.number": `"configurations":[{"classification":"hive-site",` +
			`"properties":{"hive.exec.parallel.thread.number":"4"}}]`,
	}
	paths := []string{}
	for path := range overrides {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	before := map[string]explain.Value{}
	for _, v := range explained(t, of("data-lake", "")).Values {
		before[v.Path] = v
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 40 {
		chosen := slices.DeleteFunc(slices.Clone(paths), func(string) bool { return random.IntN(2) == 0 })
		text := ""
		for _, path := range chosen {
			text += "," + overrides[path]
		}
		for _, v := range explained(t, of("data-lake", text)).Values {
			if slices.Contains(chosen, v.Path) {
				require.Equal(t, explain.ByUser, v.By, v.Path)
				require.NotEqual(t, before[v.Path].Value, v.Value, v.Path)
			} else if !strings.HasPrefix(v.Path, "configurations") && v.Path != "preset" {
				require.Equal(t, before[v.Path], v, text)
			}
		}
	}
}

func TestNullFallsToTheDefault(t *testing.T) {
	c := explained(t, of("data-lake", `,"stepConcurrency":null,"tasks":{"batch":null}`))
	for _, v := range c.Values {
		require.False(t, strings.HasPrefix(v.Path, "tasks.batch"), v.Path)
		if v.Path == "stepConcurrency" {
			require.Equal(t, explain.Value{Path: "stepConcurrency", Value: "1", By: explain.ByDefault}, v)
		}
	}
}

func TestPropertiesAndWhoSetThem(t *testing.T) {
	c := explained(t, of("data-lake", `,"sparkDefaults":{"spark.executor.memory":"4g"},"tags":{"a.b":"c"}`))
	by := map[string]string{}
	for _, p := range c.Properties {
		by[p.Classification+" "+p.Name] = p.By
	}
	for property, want := range map[string]string{
		"spark-defaults spark.executor.memory":                explain.ByUser,
		"spark-defaults spark.dynamicAllocation.maxExecutors": explain.ByPreset,
		"spark-defaults spark.eventLog.rolling.enabled":       explain.ByEventLog,
		"spark-defaults spark.driver.defaultJavaOptions":      explain.ByPlatform,
		"core-site hadoop.prometheus.endpoint.enabled":        explain.ByPlatform,
		"hive-site hive.exec.parallel":                        explain.ByPreset,
		"hive-site hive.metastore.client.factory.class":       explain.ByGlue,
		"hadoop-env/export HADOOP_NAMENODE_HEAPSIZE":          explain.ByPreset,
	} {
		require.Equal(t, want, by[property], property)
	}
	c = explained(t, `{"tasks":{"own":{"configurations":[{"classification":"yarn-site","properties":{"a.b":"1"}}]}}}`)
	require.Contains(t, c.Properties, explain.Property{Group: "own", Classification: "yarn-site", Name: "a.b", Value: "1", By: explain.ByUser})
	c = explained(t, of("data-lake", `,"tags":{"a.b":"c"}`))
	require.Contains(t, c.Values, explain.Value{Path: "tags.a.b", Value: `"c"`, By: explain.ByUser})
}

func TestNodesScalingAndWarnings(t *testing.T) {
	c := explained(t, of("memory-optimized", ""))
	require.Len(t, c.Nodes, 1)
	require.Equal(t, 4, c.Nodes[0].Executors)
	require.Zero(t, c.Nodes[0].IdleCoresPercent)
	require.LessOrEqual(t, c.Nodes[0].IdleMemoryPercent, 5)
	require.Equal(t, []string{"none: the numbers of nodes stay as written"}, c.Scaling)
	require.Empty(t, c.Unusual)

	c = explained(t, of("memory-optimized", `,"sparkDefaults":{"spark.executor.memory":"24g"}`))
	require.Equal(t, 8, c.Nodes[0].Executors, "by memory alone: 64 cores of 32")
	require.Len(t, c.Unusual, 1)
	require.Contains(t, c.Unusual[0], "64 cores of 32")

	c = explained(t, of("data-engineering", ""))
	require.Equal(t, []string{
		"managedScaling: EMR keeps 3 to 12 instances of core and task nodes, at most 2 of core nodes, at most 2 on demand",
	}, c.Scaling)
	text, err := json.Marshal(c)
	require.NoError(t, err)
	require.NotContains(t, string(text), ":null", "an empty list is []")
}
