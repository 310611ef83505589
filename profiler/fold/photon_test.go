package fold

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// photonRows returns the rows about one execution of a plan, which took 8 s, and its application.
func photonRows(t *testing.T, plan *planGraph) (execution, application tables.PhotonAnalysis, kinds map[string]tables.PhotonAnalysis) {
	t.Helper()
	kinds = map[string]tables.PhotonAnalysis{}
	a := newAttempt(tables.Attempt{ApplicationID: "application_1_0001"}, sinkOf(func(row tables.Row) {
		of, is := row.(*tables.PhotonAnalysis)
		switch {
		case !is:
		case of.SQLID != nil:
			execution = *of
		case of.Operator != nil:
			kinds[*of.Operator] = *of
		default:
			application = *of
		}
	}))
	values := func(m planMetric) (*int64, string) { return &m.accumulator, "" } // its id is its value
	require.NoError(t, a.photon.execution(a, &tables.SQL{SQLID: 3, DurationMillis: new(int64(8000))}, plan, values))
	require.NoError(t, a.photon.close(a))
	return execution, application, kinds
}

// sinkOf takes rows.
type sinkOf func(row tables.Row)

func (s sinkOf) Put(row tables.Row) error {
	s(row)
	return nil
}

func timing(millis int64) []planMetric {
	return []planMetric{{name: "duration", kind: "timing", accumulator: millis}}
}

// Three plans by hand. Wrappers do not count, but in the notebook's figure; operators have their own
// times, and share what is left of their WholeStageCodegen's.
func TestPhotonPlans(t *testing.T) {
	within := new(int64(1))
	execution, application, kinds := photonRows(t, &planGraph{nodes: []planNode{
		{id: 0, name: "AdaptiveSparkPlan"}, {id: 1, name: "WholeStageCodegen (1)", metrics: timing(6000)},
		{id: 2, name: "HashAggregate", codegen: within, metrics: []planMetric{{name: "time", kind: "nsTiming", accumulator: 2_000_000_000}}},
		{id: 3, name: "Filter", codegen: within}, {id: 4, name: "BatchEvalPython", metrics: timing(3000)},
		{id: 5, name: "Scan orc t", metrics: timing(1000)},
	}})
	require.EqualValues(t, 3, *execution.SQLID)
	require.EqualValues(t, 4, *execution.Operators)
	require.InDelta(t, 10_000, *execution.TimeMillis, 1e-9)
	require.InDelta(t, 0.6, *execution.SupportedShare, 1e-9)
	require.InDelta(t, 0.3, *execution.UnsupportedShare, 1e-9)
	require.InDelta(t, 0.1, *execution.UnknownShare, 1e-9)
	require.InDelta(t, 100, *execution.JobPhotonPerc, 1e-9, "the notebook looks for PythonUDF, which no plan has")
	require.True(t, *execution.Approximate)
	require.InDelta(t, 4000, *kinds["HashAggregate"].TimeMillis, 1e-9)
	require.InDelta(t, 2000, *kinds["Filter"].TimeMillis, 1e-9)
	require.False(t, *kinds["BatchEvalPython"].Approximate)
	require.Nil(t, kinds["Filter"].JobPhotonPerc)
	require.Equal(t, execution.UnknownShare, application.UnknownShare)
	require.NotContains(t, kinds, "AdaptiveSparkPlan")

	execution, _, _ = photonRows(t, &planGraph{nodes: []planNode{ // no times: the duration, evenly
		{id: 0, name: "Project"}, {id: 1, name: "MapElements"}, {id: 2, name: "DeserializeToObject"}, {id: 3, name: "Scan parquet t"},
	}})
	require.InDelta(t, 8000, *execution.TimeMillis, 1e-9)
	require.InDelta(t, 0.5, *execution.SupportedShare, 1e-9)
	require.InDelta(t, 0.5, *execution.UnsupportedShare, 1e-9)
	require.InDelta(t, 50, *execution.JobPhotonPerc, 1e-9)
	require.True(t, *execution.Approximate)

	execution, _, kinds = photonRows(t, &planGraph{nodes: []planNode{ // of a Photon cluster
		{id: 0, name: "ColumnarToRow"}, {id: 1, name: "PhotonResultStage", metrics: timing(1)}, {id: 2, name: "PhotonTopK", metrics: timing(2)},
		{id: 3, name: "PhotonShuffleExchangeSource", metrics: timing(3)}, {id: 4, name: "Snapshot of tomorrow", metrics: timing(4)},
	}})
	require.InDelta(t, 0.6, *execution.SupportedShare, 1e-9)
	require.InDelta(t, 0.4, *execution.UnknownShare, 1e-9)
	require.InDelta(t, 1, *kinds["Snapshot of tomorrow"].UnknownShare, 1e-9)
	require.False(t, *execution.Approximate)
}

// An application without executions has no rows; very many kinds of operators are one.
func TestPhotonIsBounded(t *testing.T) {
	_, application, kinds := photonRows(t, nil)
	require.Nil(t, application.Operators)
	require.Empty(t, kinds)
	plan := &planGraph{}
	for n := range int64(1000) {
		plan.nodes = append(plan.nodes, planNode{id: n, name: "Custom" + string(rune('a'+n%26)) + string(rune('a'+n/26))})
	}
	_, application, kinds = photonRows(t, plan)
	require.EqualValues(t, 1000, *application.Operators)
	require.Len(t, kinds, mostPhotonOperators+1)
	require.EqualValues(t, 1000-mostPhotonOperators, *kinds[otherOperators].Operators)
}
