package fold

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Removals are classified as by the driver's plugin, whose test reads the same file
// (assets/node, TestPluginFindsParentsAndReasons).
func TestRemoveClass(t *testing.T) {
	texts, err := os.ReadFile("testdata/removals.txt")
	require.NoError(t, err)
	classes := map[string]bool{}
	for line := range strings.Lines(string(texts)) {
		text, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " > ")
		require.True(t, ok, line)
		dynamic, fixed, two := strings.Cut(want, " or ")
		if !two {
			fixed = dynamic
		}
		require.Equal(t, dynamic, *removeClass(&text, true), text)
		require.Equal(t, fixed, *removeClass(&text, false), text)
		classes[dynamic] = true
	}
	require.Len(t, classes, 7, "every class")
	require.Nil(t, removeClass(nil, true), "it was not removed")
}

// An application's outcome is that of its driver's exit code; without one, what started it
// knows.
func TestOutcome(t *testing.T) {
	step := Options{OutcomeOf: func(string) string { return tables.Killed }}
	for _, c := range []struct {
		options Options
		code    *int64
		want    *string
	}{
		{Options{}, nil, nil},
		{Options{}, new(int64(0)), new(tables.Succeeded)},
		{step, new(int64(1)), new(tables.Failed)},
		{step, nil, new(tables.Killed)},
		{Options{OutcomeOf: func(string) string { return "" }}, nil, nil},
	} {
		require.Equal(t, c.want, c.options.outcome("application_1_0001", c.code))
	}
}
