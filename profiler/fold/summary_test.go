package fold

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Numbers are written as encoding/json writes them, and lists under their own names.
func TestSummaryJSON(t *testing.T) {
	numbers := []float64{
		0, 1, 7, 0.5, 0.1, 1e-7, -1, -2.5, math.Copysign(0, -1), 123456789012345, 1<<53 - 1, 1 << 53, 1e20, 1e21, math.MaxFloat64,
		math.SmallestNonzeroFloat64,
	}
	var s tables.TaskSummary
	s.Duration, s.InputBytes, s.ShuffleTotalBlocks, s.ShuffleWriteTime = numbers, []float64{3}, []float64{}, []float64{4, 5}
	var got map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(summaryJSON(&s)), &got))
	want, err := json.Marshal(numbers)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got["duration"]))
	require.Equal(t, "null", string(got["resultSize"]))
	require.JSONEq(t, `{"bytesRead":[3],"recordsRead":null}`, string(got["inputMetrics"]))
	require.JSONEq(t, `{"bytesWritten":null,"recordsWritten":null}`, string(got["outputMetrics"]))
	require.Contains(t, string(got["shuffleReadMetrics"]), `,"totalBlocksFetched":[]}`)
	require.JSONEq(t, `{"writeBytes":null,"writeRecords":null,"writeTime":[4,5]}`, string(got["shuffleWriteMetrics"]))

	s.Duration = []float64{math.NaN()}
	require.Empty(t, summaryJSON(&s))
}
