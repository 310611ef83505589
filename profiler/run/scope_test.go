package run_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/source"
)

// tagged gives a cluster tags.
func tagged(tags map[string]string) func(*types.Cluster) {
	return func(c *types.Cluster) {
		for key, value := range tags {
			c.Tags = append(c.Tags, types.Tag{Key: aws.String(key), Value: aws.String(value)})
		}
	}
}

// With tags, a run reads the clusters that have all of them, and makes persistent UIs for no
// others. It asks once about clusters that have ended, and each time about those that run.
func TestClustersWithTags(t *testing.T) {
	w := newWorld(t)
	own := w.cluster("etl", tagged(platform.StackTags("dev")))
	ofOthers := w.cluster("etl")
	ofAnother := w.cluster("etl", tagged(platform.StackTags("prod")))
	for n, id := range []string{own, ofOthers, ofAnother} {
		w.ran(id, "adaptive", appID(n+1))
		w.end(id, time.Hour)
	}
	runs := w.cluster("nightly")
	w.ran(runs, "adaptive", appID(4))

	o := w.options()
	o.Tags = platform.StackTags("dev")
	first, _ := w.run(o)
	require.Equal(t, run.ExitComplete, first.ExitCode())
	require.Equal(t, 1, first.ClustersFound)
	require.Equal(t, 1, first.ApplicationsRead)
	require.Len(t, w.keptUIs(), 1)
	require.Equal(t, 4+1, w.made(source.OpDescribeCluster), "for their tags, and to read one")

	require.NoError(t, w.store.UpdateCluster(runs, tagged(platform.StackTags("dev")))) // aws emr add-tags
	w.end(runs, time.Hour)
	second, _ := w.run(o)
	require.Equal(t, 2, second.ClustersFound)
	require.Equal(t, 1, second.ClustersCurrent)
	require.Equal(t, 1, second.ApplicationsRead)
	require.Equal(t, 5+1+1, w.made(source.OpDescribeCluster), "about the one that ran")
	third, _ := w.run(o)
	require.Equal(t, 2, third.ClustersCurrent)
	require.Equal(t, 7, w.made(source.OpDescribeCluster))

	o.Tags = platform.StackTags("prod")
	require.Len(t, w.discover(o), 1, "what is known is of other tags")
	o.Tags = nil
	require.Len(t, w.discover(o), 4)
}

// discover lists the clusters of the options and reads none.
func (w *world) discover(o run.Options) []source.Listed {
	w.t.Helper()
	from, err := run.Source(w.t.Context(), w.aws, o)
	require.NoError(w.t, err)
	found, err := from.Discover(w.t.Context())
	require.NoError(w.t, err)
	return found
}

// What EMR has said of ended clusters before a request fails is kept.
func TestTagsThatCannotBeLookedUp(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		w.end(w.cluster("etl", tagged(platform.StackTags("dev"))), time.Hour)
	}
	o := w.options()
	o.Tags = platform.StackTags("dev")
	from, err := run.Source(t.Context(), w.aws, o)
	require.NoError(t, err)
	w.on = map[string]func(){source.OpDescribeCluster: func() { w.fail(source.OpDescribeCluster) }} // after the first
	_, err = from.Discover(t.Context())
	require.ErrorContains(t, err, "look up the tags of the EMR cluster j-")
	require.Equal(t, 2, w.made(source.OpDescribeCluster), "the others are not tried")
	w.on = nil
	w.fail()
	require.Len(t, w.discover(o), 3)
	require.Equal(t, 2+2, w.made(source.OpDescribeCluster))
	require.Len(t, w.discover(o), 3)
	require.Equal(t, 4, w.made(source.OpDescribeCluster))
}
