package facts_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// Both files know the same releases: EMR's list of types is asked by release.
func TestFilesHaveTheSameReleases(t *testing.T) {
	var labels []string
	for _, r := range facts.ReleaseFile().Releases {
		labels = append(labels, r.Label)
	}
	require.Equal(t, labels, facts.Instances().Releases)
}

func TestReleasesEndInOrder(t *testing.T) {
	file := facts.ReleaseFile()
	var ends []string
	for _, r := range file.Releases {
		for _, date := range []string{r.EndOfSupport, r.EndOfLife} {
			_, err := time.Parse(time.DateOnly, date)
			require.NoError(t, err, r.Label)
		}
		require.Less(t, r.EndOfSupport, r.EndOfLife)
		ends = append(ends, r.EndOfSupport)
	}
	require.True(t, slices.IsSorted(ends), ends)
	for _, a := range file.Applications {
		require.Len(t, a.Versions, len(file.Releases), a.Name)
	}
}

func TestApplicationsByRelease(t *testing.T) {
	sqoop := facts.ReleasesOf("Sqoop")
	require.Equal(t, "emr-7.4.0", sqoop[len(sqoop)-1])
	require.Equal(t, "emr-7.0.0", facts.ReleasesOf("AmazonCloudWatchAgent")[0])
	require.Equal(t, []string{"emr-6.15.0"}, facts.ReleasesOf("Ganglia"))
	require.Len(t, facts.ReleasesOf("Spark"), len(facts.ReleaseFile().Releases))
	require.Empty(t, facts.ReleasesOf("Iceberg"), "it is configured, not named")
}

// EMR publishes YARN's memory by type; the formula gives the same.
func TestYARNMemoryIsWhatEMRPublishes(t *testing.T) {
	data, err := os.ReadFile("testdata/taskconfig.json")
	require.NoError(t, err)
	var page struct{ MemoryMiB map[string]int }
	require.NoError(t, json.Unmarshal(data, &page))
	require.Len(t, page.MemoryMiB, 68)
	for name, want := range page.MemoryMiB {
		one, ok := facts.InstanceTypeNamed(name)
		require.True(t, ok, name)
		require.Equal(t, want, one.YARNMemoryMiB(), name)
	}
}
