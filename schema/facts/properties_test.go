package facts_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema/facts"
)

func TestPropertiesOfApplications(t *testing.T) {
	for classification, some := range map[string][]string{
		"spark-defaults": {"spark.executor.memory", "spark.sql.adaptive.enabled", "spark.yarn.executor.memoryOverhead", "spark.network.timeout"},
		"core-site":      {"fs.defaultFS", "fs.s3a.path.style.access", "fs.default.name"},
		"hdfs-site":      {"dfs.replication", "dfs.block.size"},
		"yarn-site":      {"yarn.nodemanager.resource.memory-mb"},
		"mapred-site":    {"mapreduce.map.memory.mb"},
		"hive-site":      {"hive.metastore.uris", "javax.jdo.option.ConnectionURL"},
	} {
		names := facts.PropertiesOf(classification)
		require.True(t, slices.IsSorted(names), classification)
		for _, name := range some {
			require.Contains(t, names, name)
		}
	}
	require.Nil(t, facts.PropertiesOf("presto-config"))
}
