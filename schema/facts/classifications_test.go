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
	require.Subset(t, names, []string{"yarn-site", "spark-defaults", "hbase-log4j2"})
}
