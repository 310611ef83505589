package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// By default the profiler reads clusters with the stack's tags. That it reads those of
// everybody is said of a profiler that runs.
func TestScopeOfTheProfiler(t *testing.T) {
	warned := func(p schema.Profiler) []violation.Violation {
		var l violation.List
		p.Validate(&l, "profiler")
		require.NoError(t, l.Err())
		return l.Warnings()
	}
	p := schema.Defaults().Profiler
	require.Equal(t, "stack", p.Scope)
	require.Equal(t, platform.StackTags("dev"), p.ClusterTags("dev"))
	require.Empty(t, warned(p))
	ofStack := p.PersistentUIs()
	require.LessOrEqual(t, 2*ofStack, 180, "a second stack of the account has as many")

	p.Scope = "account"
	require.Empty(t, p.ClusterTags("dev"))
	require.Zero(t, p.PersistentUIs(), "the program's own limit")
	require.Len(t, warned(p), 1)
	require.Contains(t, warned(p)[0].Error(), `profiler.scope: "account" reads the Spark history of every EMR cluster of the account`)
	p.Enabled = false
	require.Empty(t, warned(p))
	require.Empty(t, schema.Profiler{Scope: "stack"}.ClusterTags("dev"), "without a profiler nothing needs tags")

	p.Scope = "region"
	var l violation.List
	p.Validate(&l, "profiler")
	require.ErrorContains(t, l.Err(), `profiler.scope: "region" must be stack or account`)
}
