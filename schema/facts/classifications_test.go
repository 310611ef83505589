package facts_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema/facts"
)

func TestClassificationsAreSortedForSearches(t *testing.T) {
	names := facts.Classifications()
	require.True(t, slices.IsSorted(names))
	// Of every release, of the first ones only, and of the last ones only.
	require.Subset(t, names, []string{"yarn-site", "spark-defaults", "hbase-log4j", "hbase-log4j2", "zookeeper-log4j", "cloudwatch-logs"})
	require.NotContains(t, names, "spark-log4j", "no release since 6.15.0 has it")
}
