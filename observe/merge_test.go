package observe_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/platform"
)

// find returns the value of a key in a classification, which path names from the
// outermost one inward.
func find(list []observe.Classification, key string, path ...string) (string, bool) {
	for _, c := range list {
		if c.Classification != path[0] {
			continue
		}
		if len(path) > 1 {
			return find(c.Configurations, key, path[1:]...)
		}
		value, found := c.Properties[key]
		return value, found
	}
	return "", false
}

func TestMergeAppendsWhereEMRReplaces(t *testing.T) {
	own, err := observe.Parse(`[
		{"Classification": "spark-defaults", "Properties": {
			"spark.driver.defaultJavaOptions": "-Xss8m -Dq='a b'", "spark.sql.adaptive.enabled": "false"}},
		{"Classification": "hadoop-env", "Properties": {}, "Configurations": [
			{"Classification": "export", "Properties": {"HADOOP_NAMENODE_HEAPSIZE": "2048"}}]},
		{"Classification": "container-executor", "Configurations": [
			{"Classification": "docker", "Properties": {"docker.allowed.ro-mounts": "/etc/passwd, /data", "docker.trusted.registries": "acme"}}]},
		{"Classification": "yarn-site", "Properties": {"yarn.nodemanager.runtime.linux.docker.default-ro-mounts": ""}}]`)
	require.NoError(t, err)
	merged := observe.Merge(own, observe.Configurations("1", nil))
	rendered, err := observe.Render(merged)
	require.NoError(t, err)
	const executor = "-verbose:gc -XX:+PrintGCDetails -XX:+PrintGCDateStamps -XX:OnOutOfMemoryError='kill -9 %p'"
	require.JSONEq(t, `[
		{"Classification": "spark-defaults", "Properties": {
			"spark.driver.defaultJavaOptions": "-Xss8m -Dq='a b' -javaagent:/opt/observatory/launcher.jar",
			"spark.executor.defaultJavaOptions": "`+executor+` -javaagent:/opt/observatory/launcher.jar",
			"spark.observatory.tracing.samplingRatio": "1",
			"spark.sql.adaptive.enabled": "false"}},
		{"Classification": "hadoop-env", "Properties": {}, "Configurations": [
			{"Classification": "export", "Properties": {"HADOOP_NAMENODE_HEAPSIZE": "2048"}}]},
		{"Classification": "container-executor", "Properties": {}, "Configurations": [
			{"Classification": "docker", "Properties": {
				"docker.allowed.ro-mounts": "/etc/passwd, /data,/opt/observatory", "docker.trusted.registries": "acme"}}]},
		{"Classification": "yarn-site", "Properties": {
			"yarn.nodemanager.runtime.linux.docker.default-ro-mounts": "/opt/observatory:/opt/observatory"}},
		{"Classification": "core-site", "Properties": {"hadoop.prometheus.endpoint.enabled": "true"}}]`, rendered)
	require.NotContains(t, rendered, `\u003c`)
	require.Empty(t, own[2].Properties, "the arguments stay as they are")
}

func TestMergeIntoNothingIsThePlatforms(t *testing.T) {
	wanted := observe.Configurations("0.5", nil)
	require.Equal(t, wanted, observe.Merge(nil, wanted))
}

// TestMergeLosesNothing merges random lists: every key of theirs is still there with
// its value, JVM options and mounts perhaps longer; what the platform needs is there
// exactly once; a second merge changes nothing.
func TestMergeLosesNothing(t *testing.T) {
	wanted := observe.Configurations("1", nil)
	for seed := range uint64(3_000) {
		r := rand.New(rand.NewPCG(seed, 14))
		own := randomList(r, 0)
		before, err := json.Marshal(own)
		require.NoError(t, err)
		merged := observe.Merge(own, wanted)
		after, err := json.Marshal(own)
		require.NoError(t, err)
		require.JSONEq(t, string(before), string(after), "seed %d: the arguments stay as they are", seed)
		requireKept(t, seed, own, merged)
		require.Equal(t, merged, observe.Merge(merged, wanted), "seed %d: a second merge", seed)

		for _, key := range []string{"spark.driver.defaultJavaOptions", "spark.executor.defaultJavaOptions"} {
			value, _ := find(merged, key, "spark-defaults")
			require.Equal(t, 1, count(strings.Fields(value), observe.AgentFlag), "seed %d: %s: %s", seed, key, value)
		}
		value, _ := find(merged, "docker.allowed.ro-mounts", "container-executor", "docker")
		require.Equal(t, 1, count(strings.Split(value, ","), platform.NodeInstallDir), "seed %d: %s", seed, value)
		text, err := observe.Render(merged)
		require.NoError(t, err)
		read, err := observe.Parse(text)
		require.NoError(t, err)
		require.Equal(t, merged, read, "seed %d: written and read", seed)
	}
}

func count(parts []string, part string) int {
	return len(slices.DeleteFunc(parts, func(p string) bool { return p != part }))
}

// requireKept fails unless every classification of own is in merged at the same
// place, with every key and the beginning of its value.
func requireKept(t *testing.T, seed uint64, own, merged []observe.Classification) {
	t.Helper()
	require.GreaterOrEqual(t, len(merged), len(own))
	for i, c := range own {
		require.Equal(t, c.Classification, merged[i].Classification, "seed %d: the order", seed)
		for key, value := range c.Properties {
			kept := merged[i].Properties[key]
			if strings.HasSuffix(key, "defaultJavaOptions") || strings.HasSuffix(key, "ro-mounts") {
				require.Equal(t, strings.TrimSpace(value), strings.TrimSpace(kept[:len(value)]), "seed %d: %s", seed, key)
				continue
			}
			require.Equal(t, value, kept, "seed %d: %s", seed, key)
		}
		requireKept(t, seed, c.Configurations, merged[i].Configurations)
	}
}

func randomList(r *rand.Rand, depth int) []observe.Classification {
	names := []string{"spark-defaults", "core-site", "yarn-site", "container-executor", "hive-site", "hadoop-env", "docker", "export"}
	keys := []string{
		"spark.driver.defaultJavaOptions", "spark.executor.defaultJavaOptions", "spark.observatory.tracing.samplingRatio",
		"yarn.nodemanager.runtime.linux.docker.default-ro-mounts", "docker.allowed.ro-mounts", "hadoop.prometheus.endpoint.enabled",
		"a.b", "Ü<&>",
	}
	values := []string{
		"-Xss8m", "-Dq='a b' -Dz=\"c,d\"", observe.AgentFlag, "-ea " + observe.AgentFlag + " -Xss1m", "/data:/data:ro,/x",
		"/etc/passwd:/etc/passwd", "true", "${a}%{b}", "7",
	}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var list []observe.Classification
	for _, name := range names[:r.IntN(4)] {
		c := observe.Classification{Classification: name}
		for range r.IntN(4) {
			if c.Properties == nil {
				c.Properties = map[string]string{}
			}
			c.Properties[keys[r.IntN(len(keys))]] = values[r.IntN(len(values))]
		}
		if depth < 2 {
			c.Configurations = randomList(r, depth+1)
		}
		list = append(list, c)
	}
	return list
}

func TestParseRefusesWhatMergeWouldLose(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"number":      {`[{"Classification": "spark-defaults", "Properties": {"spark.executor.cores": 4}}]`, "number"},
		"other key":   {`[{"Classification": "spark-defaults", "ConfigurationProperties": {}}]`, `unknown field "ConfigurationProperties"`},
		"no list":     {`{"Classification": "spark-defaults"}`, "must be a list"},
		"second list": {`[] []`, "remove what follows"},
		"no JSON":     {`spark.executor.cores 4`, "as RunJobFlow takes it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := observe.Parse(c.text)
			require.ErrorContains(t, err, c.says)
		})
	}
	list, err := observe.Parse(`[{"classification": "core-site", "properties": {"a": "b"}}]`)
	require.NoError(t, err, "any case of the keys")
	require.Equal(t, "core-site", list[0].Classification, fmt.Sprint(list))
}
