package source

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// The logs of a failed step are read until EMR has uploaded all of them; where they name no cause,
// for a day.
func TestWhenLogsAreReadForACause(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	e := &EMR{now: func() time.Time { return now }}
	known := new("ValueError: no")
	for name, test := range map[string]struct {
		state   types.StepState
		since   time.Duration
		earlier tables.Step
		want    bool
	}{
		"completed":           {types.StepStateCompleted, time.Minute, tables.Step{}, false},
		"cancelled":           {types.StepStateCancelled, time.Minute, tables.Step{}, false},
		"failed":              {types.StepStateFailed, time.Minute, tables.Step{}, true},
		"failed long ago":     {types.StepStateFailed, 1000 * time.Hour, tables.Step{}, true},
		"ran before":          {types.StepStateFailed, time.Minute, tables.Step{StepID: "s-1"}, true},
		"known":               {types.StepStateFailed, time.Minute, tables.Step{EndTime: 1, Cause: known}, true},
		"known and uploaded":  {types.StepStateFailed, 3 * time.Hour, tables.Step{EndTime: 1, Cause: known}, false},
		"unknown":             {types.StepStateFailed, 3 * time.Hour, tables.Step{EndTime: 1}, true},
		"unknown after a day": {types.StepStateFailed, 25 * time.Hour, tables.Step{EndTime: 1}, false},
	} {
		row := &tables.Step{State: string(test.state), EndTime: now.Add(-test.since).UnixMilli()}
		require.Equal(t, test.want, e.wantsCause(row, test.earlier), name)
	}
}
