package phases_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// parent is a span of somebody else's, in a trace of its own.
type parent struct{ trace, span string }

func newParent(n int) parent {
	return parent{fmt.Sprintf("%032x", 0xa0+n), fmt.Sprintf("%016x", 0xb0+n)}
}

func (p parent) String() string { return "00-" + p.trace + "-" + p.span + "-01" }

// dropped is the parent whose trace nobody keeps.
func (p parent) dropped() string { return "00-" + p.trace + "-" + p.span + "-00" }

// Three applications run at the same time. One has a parent from its configuration and
// another from a thread's property, one from the environment and a session. The third has
// the first's routes, but its parents' traces are not kept, whatever its own ratio is.
func TestParentsOfFourRoutes(t *testing.T) {
	testenv.RequireLong(t, "assets/node TestPluginInSparkWithExecutors gives a thread and a session parents, a table tries all routes")
	c := startCluster(t)
	conf, thread, environment, session := newParent(1), newParent(2), newParent(3), newParent(4)
	first := c.submit(t, job{name: "context-conf", mode: "context", args: []string{thread.String(), "-"},
		conf: map[string]string{platform.SparkTraceparent: conf.String()}})
	second := c.submit(t, job{name: "context-env", mode: "context", args: []string{"-", session.String()},
		env: []string{"TRACEPARENT=" + environment.String()}})
	third := c.submit(t, job{name: "context-dropped", mode: "context", args: []string{newParent(5).dropped(), "-"},
		conf: map[string]string{platform.SparkTraceparent: newParent(6).dropped()}})
	first.wait(t)
	second.wait(t)
	third.wait(t)
	first.requireParents(t, conf, thread, platform.SpanJob)
	second.requireParents(t, environment, session, platform.SpanSQL)
	id := third.application(t)
	third.awaitEnd(t, id) // metrics follow spans
	require.Empty(t, third.received.spansOf(id))
}

// requireParents fails unless the application belongs to one parent and exactly one
// span, of that kind, to the other.
func (r *run) requireParents(t *testing.T, own, other parent, kind platform.SpanKind) {
	t.Helper()
	id := r.application(t)
	root := r.awaitRoot(t, id)
	require.Equal(t, parent{root.TraceID, root.ParentID}, own)
	r.requireTree(t, id, map[string]string{own.span: own.trace, other.span: other.trace})
	var joined []string
	for _, s := range r.received.spansOf(id) {
		require.Contains(t, []string{own.trace, other.trace}, s.TraceID, s.Name)
		if s.ParentID == other.span {
			joined = append(joined, s.values["spark.kind"])
		}
	}
	require.Equal(t, []string{string(kind)}, joined)
}
