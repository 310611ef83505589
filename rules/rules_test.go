package rules_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// Every rule is complete, and what it names exists.
func TestRulesAreComplete(t *testing.T) {
	metrics, columns := map[string]bool{}, map[string]bool{}
	for _, m := range contract.Metrics() {
		metrics[m.Name] = true
	}
	for _, d := range tables.All() {
		for _, c := range d.Columns() {
			columns[string(d.Name)+"."+c.Name] = true
		}
	}
	property := regexp.MustCompile(`^[a-z][A-Za-z0-9.-]+$`)
	release := regexp.MustCompile(`^(emr-\d+\.\d+)?$`)
	seen := map[rules.ID]bool{}
	for _, r := range rules.All() {
		t.Run(string(r.ID), func(t *testing.T) {
			require.False(t, seen[r.ID], "twice")
			seen[r.ID] = true
			require.Equal(t, r, rules.Get(r.ID))
			for _, text := range []string{r.Title, string(r.Subject), r.Signal, string(r.Unit), string(r.Route)} {
				require.NotEmpty(t, text)
			}
			require.NotEmpty(t, r.Sources, "a limit needs a source, or own()")
			require.True(t, r.Warn > 0 && r.Critical > 0 && r.Warn != r.Critical || r.Warn == r.Critical && r.Unit == rules.Count)
			require.Equal(t, len(r.Metrics) == 0, r.NotLive != "", "live: metrics, or why not")
			require.Equal(t, len(r.Columns) == 0, r.NotInTables != "", "in tables: columns, or why not")
			require.Equal(t, len(r.Columns) == 0, r.Basis == "", "findings have a basis")
			for _, name := range r.Metrics {
				require.True(t, metrics[name], name)
			}
			for _, name := range r.Columns {
				require.True(t, columns[name], name)
			}
			for _, c := range r.Changes {
				require.NotEmpty(t, c.Classification)
				require.Regexp(t, property, c.Property)
				require.Regexp(t, release, c.Since)
				require.Regexp(t, release, c.Until)
				require.False(t, strings.HasSuffix(c.When, "."), "a clause")
			}
			floors := map[rules.FloorName]bool{}
			for _, f := range r.Floors {
				require.False(t, floors[f.Name], f.Name)
				floors[f.Name] = true
				require.NotEmpty(t, f.Doc)
				require.InDelta(t, f.Value, r.Floor(f.Name), 0)
			}
			require.Panics(t, func() { r.Floor("none") })
		})
	}
	require.Panics(t, func() { rules.Get("none") })
}

// Advice that damages a job's output or that EMR does not know is never given: a speculative
// task may write twice to S3, and s3:// has committers of EMR's own.
func TestAdviceIsSafeOnEMR(t *testing.T) {
	for _, r := range rules.All() {
		for _, c := range r.Changes {
			require.NotEqual(t, [2]string{"spark.speculation", "true"}, [2]string{c.Property, c.Value}, r.ID)
			require.NotEqual(t, "fs.s3a.committer.name", c.Property, r.ID)
		}
	}
}

// The version changes with whatever a rule says.
func TestVersion(t *testing.T) {
	first := rules.Version()
	require.Regexp(t, `^[0-9a-f]{12}$`, first)
	require.Equal(t, first, rules.Version())
}

// The laws of severity go from the most urgent to the least.
func TestSeverities(t *testing.T) {
	laws := rules.Severities()
	require.Equal(t, []rules.Severity{rules.Critical, rules.Warning}, []rules.Severity{laws[0].Severity, laws[1].Severity})
	for i, law := range laws {
		require.NotEmpty(t, law.Sources)
		if i == 0 {
			continue
		}
		earlier := laws[i-1]
		require.Greater(t, earlier.Share, law.Share)
		require.Greater(t, earlier.Milliseconds, law.Milliseconds)
		require.Greater(t, earlier.CoreHours, law.CoreHours)
	}
	require.Equal(t, 5, reflect.TypeFor[rules.Law]().NumField(), "each field needs a line above")
}
