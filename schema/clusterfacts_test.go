package schema_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Each check by facts is part of a cluster's.
func TestClustersAreCheckedByFacts(t *testing.T) {
	for name, c := range map[string]struct {
		edit    func(*schema.Cluster)
		refused string // path of the violation
		warned  string // path of the warning
	}{
		"support":     {edit: func(c *schema.Cluster) { c.ReleaseLabel = "emr-6.15.0" }, warned: "clusters.etl.releaseLabel"},
		"application": {edit: func(c *schema.Cluster) { c.Applications = []string{"Spark", "Sqoop"} }, refused: "clusters.etl.applications[1]"},
		"type of the master": {edit: func(c *schema.Cluster) { c.Master.InstanceType = "r5.large" },
			refused: "clusters.etl.master.instanceType"},
		"type of core nodes": {edit: func(c *schema.Cluster) { c.Core.InstanceType = "r5.large" }, refused: "clusters.etl.core.instanceType"},
		"type of task nodes": {edit: func(c *schema.Cluster) { c.Tasks["spot"] = schema.InstanceGroup{InstanceType: "r5.large", Count: 1} },
			refused: "clusters.etl.tasks.spot.instanceType"},
		"volumes": {edit: func(c *schema.Cluster) {
			c.Core.InstanceType, c.Core.EBS = "d3.8xlarge", []schema.Volume{{Type: "gp3", SizeGiB: 10, PerInstance: 3}}
		}, refused: "clusters.etl.core.ebs"},
		"secret": {edit: func(c *schema.Cluster) { c.SparkDefaults["spark.x.password"] = "hunter2" },
			refused: "clusters.etl.sparkDefaults.spark.x.password"},
		"secret of another file": {edit: func(c *schema.Cluster) {
			c.Configurations = []schema.Configuration{{Classification: "hive-site", Properties: map[string]string{"hive.x": keyID}}}
		}, refused: "clusters.etl.configurations[0].properties.hive.x"},
		"secret of a step": {edit: func(c *schema.Cluster) { c.Steps = []schema.Step{stepWith("--password", "hunter2")} },
			refused: "clusters.etl.steps[0].args[1]"},
		"secret of a step's properties": {edit: func(c *schema.Cluster) {
			s := stepWith("s3://bucket/job.py")
			s.Properties = map[string]string{"x": keyID}
			c.Steps = []schema.Step{s}
		}, refused: "clusters.etl.steps[0].properties.x"},
		"secret of a bootstrap action": {edit: func(c *schema.Cluster) {
			c.BootstrapActions = []schema.BootstrapAction{{Name: "x", Path: "s3://bucket/x.sh", Args: []string{"--token=hunter2"}}}
		}, refused: "clusters.etl.bootstrapActions[0].args[0]"},
		"property of another file": {edit: func(c *schema.Cluster) {
			c.Configurations = []schema.Configuration{{Classification: "hdfs-site", Properties: map[string]string{"dfs.replicaton": "2"}}}
		}, warned: "clusters.etl.configurations[0].properties.dfs.replicaton"},
		"property of a group": {edit: func(c *schema.Cluster) {
			var g schema.InstanceGroup
			g.SetDefaults()
			g.Configurations = []schema.Configuration{{Classification: "hdfs-site", Properties: map[string]string{"dfs.replicaton": "2"}}}
			c.Tasks["spot"] = g
		}, warned: "clusters.etl.tasks.spot.configurations[0].properties.dfs.replicaton"},
		"classification": {edit: func(c *schema.Cluster) { c.Configurations = misspeltClassification() },
			warned: "clusters.etl.configurations[0].classification"},
		"classification of a group": {edit: func(c *schema.Cluster) {
			var g schema.InstanceGroup
			g.SetDefaults()
			g.Configurations = misspeltClassification()
			c.Tasks["spot"] = g
		}, warned: "clusters.etl.tasks.spot.configurations[0].classification"},
		"property": {edit: func(c *schema.Cluster) { c.SparkDefaults["spark.executor.core"] = "4" },
			warned: "clusters.etl.sparkDefaults.spark.executor.core"},
		"executors": {edit: func(c *schema.Cluster) { c.SparkDefaults["spark.executor.memory"] = "12g" },
			refused: "clusters.etl.sparkDefaults.spark.executor.memory"},
		"executors, by the workers alone": {edit: func(c *schema.Cluster) {
			c.Master.InstanceType, c.SparkDefaults["spark.executor.memory"] = "m5.4xlarge", "12g"
		}, refused: "clusters.etl.sparkDefaults.spark.executor.memory"},
	} {
		t.Run(name, func(t *testing.T) {
			var cluster schema.Cluster
			cluster.SetDefaults()
			c.edit(&cluster)
			cfg := validConfig()
			cfg.Clusters["etl"] = cluster
			var l violation.List
			cfg.Check(&l)
			require.Equal(t, c.refused, pathOf(t, violation.All(l.Err())))
			require.Equal(t, c.warned, pathOf(t, warnings(l, cluster.ReleaseLabel)))
			require.NotContains(t, fmt.Sprint(l.Err()), "hunter2")
		})
	}
}

// stepWith returns a valid step with arguments.
func stepWith(args ...string) schema.Step {
	var s schema.Step
	s.SetDefaults()
	s.Name, s.Jar, s.Args = "load", "command-runner.jar", args
	return s
}

// warnings returns those of a list, without that of a release that ended after the test
// was written.
func warnings(l violation.List, release string) []violation.Violation {
	return slices.DeleteFunc(l.Warnings(), func(v violation.Violation) bool {
		return strings.HasSuffix(v.Path, ".releaseLabel") && release != "emr-6.15.0"
	})
}

// pathOf returns the path of the only violation, or "".
func pathOf(t *testing.T, found []violation.Violation) string {
	t.Helper()
	require.LessOrEqual(t, len(found), 1, "%v", found)
	if len(found) == 0 {
		return ""
	}
	return found[0].Path
}

func TestDefaultClusterIsWarnedOfNothing(t *testing.T) {
	var cluster schema.Cluster
	cluster.SetDefaults()
	cfg := validConfig()
	cfg.Clusters["etl"] = cluster
	var l violation.List
	cfg.Check(&l)
	require.NoError(t, l.Err())
	require.Empty(t, warnings(l, cluster.ReleaseLabel))
}

func misspeltClassification() []schema.Configuration {
	return []schema.Configuration{{Classification: "yarn-sites", Properties: map[string]string{"a": "b"}}}
}
