package lake_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// The findings of an attempt stay until its new rows are judged; those of equal rows count as
// judged.
func TestFindingsStayUntilTheyAreReplaced(t *testing.T) {
	l := openLocked(t, t.TempDir())
	commit := func(completed bool) {
		b, err := l.Begin(attempt, start)
		require.NoError(t, err)
		require.NoError(t, b.Put(&tables.Application{Attempt: attempt, Completed: completed}))
		_, err = b.Commit(t.Context(), completed, "v1")
		require.NoError(t, err)
	}
	state := func() (judged string, found []string) {
		for held, err := range l.Attempts(t.Context()) {
			require.NoError(t, err)
			require.Equal(t, attempt.ApplicationID, held.ID().ApplicationID)
			judged = held.Judged
		}
		for f, err := range lake.Read[tables.Finding](t.Context(), l, lake.Filter{}) {
			require.NoError(t, err)
			found = append(found, f.Finding)
		}
		return judged, found
	}
	all := func() string {
		by, err := l.JudgedBy(t.Context())
		require.NoError(t, err)
		return by
	}
	commit(false)
	judged, found := state()
	require.Empty(t, judged)
	require.Empty(t, found)

	written, err := l.SetFindings(t.Context(), attempt, []tables.Finding{{Attempt: attempt, Finding: "skew"}}, "rules 1")
	require.NoError(t, err)
	require.Equal(t, 1, written.Objects)
	require.NoError(t, l.SetJudgedBy(t.Context(), "rules 1"))
	commit(false)
	judged, found = state()
	require.Equal(t, "rules 1", judged, "the rows are the same")
	require.Equal(t, []string{"skew"}, found)
	require.Equal(t, "rules 1", all())

	commit(true)
	judged, found = state()
	require.Empty(t, judged, "the rows have changed")
	require.Equal(t, []string{"skew"}, found)
	require.Empty(t, all())

	written, err = l.SetFindings(t.Context(), attempt, nil, "rules 2")
	require.NoError(t, err)
	require.Equal(t, 1, written.Removed)
	judged, found = state()
	require.Equal(t, "rules 2", judged)
	require.Empty(t, found)
	written, err = l.SetFindings(t.Context(), attempt, nil, "rules 2")
	require.NoError(t, err)
	require.Zero(t, written.Objects+written.Removed)

	other := attempt
	other.ApplicationID = "application_1_0009"
	_, err = l.SetFindings(t.Context(), other, nil, "rules 2")
	require.ErrorContains(t, err, "no complete rows")
}
