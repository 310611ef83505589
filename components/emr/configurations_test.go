package emr_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/emr"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// entry is a classification as EMR's API reads it.
type entry struct {
	Classification string
	Configurations []entry
	Properties     map[string]string
}

// parse returns properties by classification; a nested one has its parent's name
// before its own. It fails on unknown keys.
func parse(t *testing.T, text string) map[string]map[string]string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	var entries []entry
	require.NoError(t, d.Decode(&entries))
	out := map[string]map[string]string{}
	var add func(prefix string, entries []entry)
	add = func(prefix string, entries []entry) {
		for _, e := range entries {
			name := prefix + e.Classification
			require.NotContains(t, out, name, "EMR refuses a repeated classification")
			require.NotNil(t, e.Properties, "%s: the provider reads back {}", name)
			out[name] = e.Properties
			add(name+"/", e.Configurations)
		}
	}
	add("", entries)
	return out
}

func render(t *testing.T, a *emr.Args) string {
	t.Helper()
	text, err := a.ConfigurationsJSON()
	require.NoError(t, err)
	return text
}

func TestConfigurationsLoadTheLauncher(t *testing.T) {
	text := render(t, validArgs())
	require.NotContains(t, text, `"Configurations":[]`, "an empty list replaces the cluster")
	require.NotContains(t, text, `"Configurations":null`)
	require.Equal(t, map[string]map[string]string{
		"core-site": {"hadoop.prometheus.endpoint.enabled": "true"},
		"spark-defaults": {
			"spark.driver.defaultJavaOptions": "-XX:OnOutOfMemoryError='kill -9 %p' -javaagent:/opt/observatory/launcher.jar",
			"spark.executor.defaultJavaOptions": "-verbose:gc -XX:+PrintGCDetails -XX:+PrintGCDateStamps " +
				"-XX:OnOutOfMemoryError='kill -9 %p' -javaagent:/opt/observatory/launcher.jar",
		},
		"yarn-site": {
			"yarn.nodemanager.runtime.linux.docker.default-ro-mounts": "/etc/passwd:/etc/passwd,/usr/lib:/docker/usr/lib," +
				"/usr/share:/docker/usr/share,/opt/observatory:/opt/observatory",
		},
		"container-executor":        {},
		"container-executor/docker": {"docker.allowed.ro-mounts": "/sys/fs/cgroup,/etc/passwd,/usr/lib,/usr/share,/opt/observatory"},
	}, parse(t, text))
	require.NotContains(t, text, "extraJavaOptions")
}

// Event logs are rolled unless the cluster or its sparkDefaults say otherwise, and never compacted.
func TestEventLogsAreRolled(t *testing.T) {
	const key = "spark.eventLog.rolling.enabled"
	rolled := func(edit func(*schema.Cluster)) string {
		a := validArgs()
		edit(&a.Cluster)
		text := render(t, a)
		require.NotContains(t, text, "maxFilesToRetain")
		return parse(t, text)["spark-defaults"][key]
	}
	var defaults schema.Cluster
	defaults.SetDefaults()
	require.True(t, defaults.RolledEventLogs)
	require.Equal(t, "true", rolled(func(c *schema.Cluster) { c.RolledEventLogs = true }))
	require.Empty(t, rolled(func(c *schema.Cluster) { c.RolledEventLogs = false }))
	require.Equal(t, "false", rolled(func(c *schema.Cluster) {
		c.RolledEventLogs, c.SparkDefaults = true, map[string]string{key: "false"}
	}))
}

func TestJobsKnowTheSamplingRatio(t *testing.T) {
	const key = "spark.observatory.tracing.samplingRatio"
	a := validArgs()
	a.SamplingRatio = "0.25"
	require.Equal(t, "0.25", parse(t, render(t, a))["spark-defaults"][key])
	a.SamplingRatio = ""
	require.NotContains(t, render(t, a), "tracing")
}

// A JVM in a YARN container of Docker's finds every file that its options name, at
// the path that they name, and YARN allows every mount.
func TestDockerContainersHaveTheAgent(t *testing.T) {
	all := parse(t, render(t, validArgs()))
	allowed := strings.Split(all["container-executor/docker"]["docker.allowed.ro-mounts"], ",")
	sources := map[string]string{} // by target
	for _, mount := range strings.Split(all["yarn-site"]["yarn.nodemanager.runtime.linux.docker.default-ro-mounts"], ",") {
		source, target, found := strings.Cut(mount, ":")
		require.True(t, found, mount)
		require.Contains(t, allowed, source)
		sources[target] = source
	}
	agents := 0
	for _, options := range all["spark-defaults"] {
		for _, option := range strings.Fields(options) {
			if jar, isAgent := strings.CutPrefix(option, "-javaagent:"); isAgent {
				agents++
				require.Equal(t, path.Dir(jar), sources[path.Dir(jar)], "%s is at the same path in a container", jar)
			}
		}
	}
	require.Equal(t, 2, agents)
}

func TestSparkDefaultsAreMergedByKey(t *testing.T) {
	a := validArgs()
	a.SparkDefaults = map[string]string{"spark.sql.shuffle.partitions": "64"}
	require.NoError(t, a.Validate())
	d := parse(t, render(t, a))["spark-defaults"]
	require.Len(t, d, 3)
	require.Equal(t, "64", d["spark.sql.shuffle.partitions"])
	require.Contains(t, d["spark.driver.defaultJavaOptions"], "-javaagent:"+platform.NodeLauncherJar)
	require.Contains(t, d["spark.executor.defaultJavaOptions"], "-javaagent:"+platform.NodeLauncherJar)
}

// Any properties that Validate accepts render as compact JSON that EMR reads back
// unchanged, as the same bytes each time, with the agent in every JVM.
func TestAnyValidSparkDefaultsRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	keys := []string{"spark.executor.memory", "spark.a\"b", "spark.ü", "spark.driver.extraJavaOptions", "spark.driver.defaultJavaOptions",
		"spark.executor.defaultJavaOptions", "spark.x y", "hadoop.x", "spark.token"}
	agent := "-javaagent:" + platform.NodeLauncherJar
	values := []string{"", "4g", `quo"te`, `back\slash`, "<html>&", "ключ", "two\nlines", agent, "-Xmx1g " + agent, agent + "x",
		"-Dx=" + agent, "'kill -9 %p'"}
	accepted, refused := 0, 0
	for range 5000 {
		a := validArgs()
		a.SparkDefaults = map[string]string{}
		for range random.IntN(4) {
			a.SparkDefaults[keys[random.IntN(len(keys))]] = values[random.IntN(len(values))]
		}
		if a.Validate() != nil {
			refused++
			continue
		}
		accepted++
		text := render(t, a)
		require.Equal(t, text, render(t, a))
		d := parse(t, text)["spark-defaults"]
		for k, v := range a.SparkDefaults {
			require.Equal(t, v, d[k])
		}
		for _, k := range []string{"spark.driver.defaultJavaOptions", "spark.executor.defaultJavaOptions"} {
			require.Contains(t, strings.Fields(d[k]), agent, fmt.Sprint(a.SparkDefaults))
		}
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, []byte(text)))
		require.Equal(t, compact.String(), text)
	}
	require.Greater(t, accepted, 500)
	require.Greater(t, refused, 500)
}

// EMR replaces a value by its key on the nodes of a group. Where a task group names its
// own mounts, the launcher's folder is still among them.
func TestTaskGroupsKeepThePlatformsMounts(t *testing.T) {
	a := validArgs()
	a.Tasks = map[string]schema.InstanceGroup{"docker": {InstanceType: "m5.xlarge", Count: 1, Configurations: []schema.Configuration{
		{Classification: "yarn-site", Properties: map[string]string{
			"yarn.nodemanager.runtime.linux.docker.default-ro-mounts": "/etc/krb5.conf:/etc/krb5.conf", "a": "b",
		}},
		{Classification: "container-executor", Configurations: []schema.Configuration{
			{Classification: "docker", Properties: map[string]string{"docker.allowed.ro-mounts": "/etc/krb5.conf"}},
		}},
		{Classification: "core-site", Properties: map[string]string{"c": "d"}},
	}}}
	require.NoError(t, a.Validate())
	group := func() map[string]map[string]string {
		text, ok := one(t, run(t, a), groupType, "emr-task-docker").Inputs.Mappable()["configurationsJson"].(string)
		require.True(t, ok)
		return parse(t, text)
	}
	require.Equal(t, map[string]map[string]string{
		"yarn-site": {
			"yarn.nodemanager.runtime.linux.docker.default-ro-mounts": "/etc/krb5.conf:/etc/krb5.conf,/opt/observatory:/opt/observatory", "a": "b",
		},
		"container-executor":        {},
		"container-executor/docker": {"docker.allowed.ro-mounts": "/etc/krb5.conf,/opt/observatory"},
		"core-site":                 {"c": "d"},
	}, group(), "what the group leaves out is the cluster's")

	a.Observe, a.Applications = schema.ObserveHostsOnly, []string{"Flink"}
	require.Equal(t, "/etc/krb5.conf", group()["container-executor/docker"]["docker.allowed.ro-mounts"], "such nodes have no launcher")
}
