package run_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// keptUIs is the object with the ids of persistent UIs.
const keptUIs = "lake/history/_manifest/persistent_uis.json"

// keptUIs returns the persistent UIs that runs have created, by cluster.
func (w *world) keptUIs() (known map[string]map[string]any) {
	w.t.Helper()
	kept, err := w.s3.Client.GetObject(w.t.Context(), &awss3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String(keptUIs)})
	require.NoError(w.t, err)
	defer kept.Body.Close()
	require.NoError(w.t, json.NewDecoder(kept.Body).Decode(&known))
	return known
}

// What EMR refuses for a reason that its API does not show is named with the preconditions
// that remain, and asked for again.
func TestRefusedUI(t *testing.T) {
	w := newWorld(t)
	id := w.cluster("etl", func(c *types.Cluster) { c.SecurityConfiguration = aws.String("governed") })
	w.ran(id, "adaptive", appID(1))
	w.end(id, time.Hour)
	w.refuse(source.OpCreatePersistentUI, "Persistent UI is not supported here; token=CANARY")
	refused, said := w.run(w.options())
	require.Len(t, refused.Incomplete, 1)
	reason := refused.Incomplete[0].Reason
	for _, text := range []string{
		"Persistent UI is not supported here", `AWS Lake Formation (look at the security configuration "governed")`,
		"or in some regions", "read that folder with --logs",
	} {
		require.Contains(t, reason, text)
	}
	require.NotContains(t, reason+said.text(), "CANARY")
	w.fail()
	read, _ := w.run(w.options())
	require.Equal(t, 1, read.ApplicationsRead)
}

// A cluster with runtime roles shows only the caller's applications. Those of its steps that
// are not shown are reported, with the permission that the profiler lacks.
func TestRuntimeRoles(t *testing.T) {
	w := newWorld(t)
	w.runtimeRoles = true
	id := w.cluster("shared")
	w.ran(id, "adaptive", appID(1))
	step := w.step(id, appID(1), appID(2))
	w.end(id, 25*time.Hour)
	first, _ := w.run(w.options())
	require.Equal(t, 1, first.ApplicationsRead)
	require.Equal(t, run.ExitIncomplete, first.ExitCode())
	reason := first.Incomplete[0].Reason
	require.Contains(t, reason, "the first is "+appID(2)+" of step "+step+": it wrote no event log")
	require.Contains(t, reason, "or it ran with another role than the profiler's; grant the profiler's role "+
		"elasticmapreduce:AccessAllEventLogs")
	w.ran(id, "cluster-submit", appID(2)) // as if it were granted
	w.uis.Close()
	second, _ := w.run(w.options())
	require.Equal(t, 1, second.ApplicationsRead)
	require.Equal(t, run.ExitComplete, second.ExitCode())
	require.NotContains(t, fmt.Sprintf("%+v", readLake[tables.Completeness](w)), "it has no history")
	third, _ := w.run(w.options())
	require.Equal(t, 1, third.ClustersCurrent)

	all := w.cluster("own")
	w.ran(all, "adaptive", appID(3))
	w.step(all, appID(3))
	w.end(all, time.Hour)
	last, said := w.run(w.options())
	require.Equal(t, run.ExitComplete, last.ExitCode())
	require.Contains(t, said.text(), "(own): it has runtime roles")
}

// A new UI may not have read all event logs of a cluster that ended long ago, and nothing says
// so. The cluster is opened again until it is older.
func TestNewUIsAreOpenedAgain(t *testing.T) {
	w := newWorld(t)
	w.newUIs = true
	id := w.cluster("notebooks")
	w.ran(id, "adaptive", appID(1))
	w.end(id, 48*time.Hour)
	first, said := w.run(w.options())
	require.Equal(t, 1, first.ApplicationsRead)
	require.Equal(t, run.ExitComplete, first.ExitCode())
	require.Contains(t, said.text(), "its persistent UI is new and may not list all applications yet")
	w.ran(id, "static", appID(2))
	w.uis.Close()
	w.newUIs = false
	second, _ := w.run(w.options())
	require.Equal(t, 1, second.ApplicationsRead)
	third, _ := w.run(w.options())
	require.Equal(t, 1, third.ClustersCurrent)
}

// A UI that was created while its cluster ran counts towards the quota until the history has
// expired, also if no run has opened the cluster since.
func TestUIsOfClustersThatAreNotOpenedAgain(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.s3.Put(t.Context(), bucket, keptUIs, func() []byte {
		old := time.Now().AddDate(0, 0, -40)
		known := map[string]map[string]any{}
		gone, runs := w.cluster("gone"), w.cluster("runs")
		w.end(gone, 35*24*time.Hour)
		for _, id := range []string{gone, runs, "j-FORGOTTEN"} {
			known["arn:aws:elasticmapreduce:"+region+":"+account+":cluster/"+id] = map[string]any{"id": "p-" + id, "created": old}
		}
		text, err := json.Marshal(known)
		require.NoError(t, err)
		return text
	}()))
	for n := range 2 {
		id := w.cluster("etl")
		w.ran(id, "adaptive", appID(n+1))
		w.end(id, time.Duration(n+1)*time.Hour)
	}
	o := w.options()
	o.NameFilter, o.MaxUIs = "etl", 2
	summary, _ := w.run(o)
	require.Equal(t, 1, summary.ApplicationsRead)
	require.Contains(t, fmt.Sprint(summary.Incomplete), "2 persistent UIs are in use, and max_persistent_uis is 2")
	described := w.made(source.OpDescribeCluster)
	require.Equal(t, 3+2, described, "UIs that are old enough, and clusters of the run")

	require.Len(t, w.keptUIs(), 2)
}

// A UI in a state that the profiler does not know, or that EMR refuses to describe, may still
// become ready: another one would use up the quota. One that has ended, or that EMR does not
// know, is replaced.
func TestUIsAreReplacedOnlyIfTheyHaveEnded(t *testing.T) {
	w := newWorld(t)
	id := w.cluster("etl")
	w.ran(id, "adaptive", appID(1))
	w.end(id, time.Hour)
	o := w.options()
	incomplete := func(want string) {
		summary, _ := w.run(o)
		require.Len(t, summary.Incomplete, 1)
		require.Contains(t, summary.Incomplete[0].Reason, want)
	}
	w.uiStatus, o.UITimeout = "PREPARING", time.Second
	incomplete(`status "PREPARING"`)
	incomplete("the next run tries again (persistent_ui_timeout_seconds)")
	w.uiStatus, o.UITimeout = "", w.options().UITimeout
	w.refuse(source.OpDescribePersistentUI, "The request is too large.")
	incomplete("The request is too large.")
	require.Equal(t, 1, w.made(source.OpCreatePersistentUI))

	w.fail()
	w.uiStatus = "TERMINATED"
	incomplete("the UI has ended")
	require.Equal(t, 2, w.made(source.OpCreatePersistentUI))
	w.uiStatus = ""
	read, _ := w.run(o)
	require.Equal(t, 1, read.ApplicationsRead)
	require.Equal(t, 2, w.made(source.OpCreatePersistentUI))
}
