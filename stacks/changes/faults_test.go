package changes_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

// fault says why a resource, as it would be without the fault, is not created.
type fault func(simulator.Result) error

// refused is a request that the service refuses.
func refused(reason string) fault {
	return func(simulator.Result) error { return errors.New(reason) }
}

// broken is a resource that exists and is not ready.
func broken(reason string) fault {
	return func(r simulator.Result) error { return &simulator.PartialError{Result: r, Reasons: []string{reason}} }
}

// faulty records resources. While it has a fault, it does not create the one with the
// logical name.
type faulty struct {
	simulator.Recording
	name  string
	fault atomic.Pointer[fault]
}

func (f *faulty) Create(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	result, err := f.Recording.Create(ctx, r)
	if fails := f.fault.Load(); err == nil && fails != nil && r.Name == f.name {
		err = (*fails)(result)
	}
	return result, err
}

// failWith sets the fault; nil removes it.
func (f *faulty) failWith(fails fault) {
	if fails == nil {
		f.fault.Store(nil)
		return
	}
	f.fault.Store(&fails)
}

// resources returns the resources in the stack's state by URN.
func (s *scene) resources(t *testing.T) map[string]apitype.ResourceV3 {
	t.Helper()
	list, err := changes.Resources(t.Context(), s.Stack)
	require.NoError(t, err)
	out := map[string]apitype.ResourceV3{}
	for _, r := range list {
		out[string(r.URN)] = r
	}
	return out
}

// requireNodes requires core nodes and task nodes of cluster main, and every resource of
// before where it was.
func (s *scene) requireNodes(t *testing.T, before map[string]apitype.ResourceV3, count int) {
	t.Helper()
	after := s.resources(t)
	for urn, r := range before {
		require.Contains(t, after, urn)
		require.Equal(t, r.ID, after[urn].ID, urn)
	}
	for urn, r := range after {
		switch r.URN.Name() {
		case "emr-main-cluster":
			core, _ := r.Inputs["coreInstanceGroup"].(map[string]any)
			require.InDelta(t, count, core["instanceCount"], 0, urn)
		case "emr-main-task-spot":
			require.InDelta(t, count, r.Inputs["instanceCount"], 0, urn)
		}
	}
}

// TestFaultOfOneClusterStopsNoEditOfAnother edits cluster main in place in updates in
// which cluster adhoc is refused, ends with errors, starts at last, and is started again
// since it has ended. Each edit takes effect, and nothing that was there is replaced.
func TestFaultOfOneClusterStopsNoEditOfAnother(t *testing.T) {
	adhoc := &faulty{name: "emr-adhoc-cluster"}
	s := openWith(t, "dev", map[string]simulator.Handler{clusterType: adhoc}, baseConfiguration...)
	s.up(t)
	before := s.resources(t)
	s.values = s.with(t, set{"clusters.adhoc", `{"core":{"count":1}}`})
	ended := func() { // the next refresh finds it ended, if it was started
		for _, r := range s.resources(t) {
			if r.URN.Name() == adhoc.name {
				s.Servers.Account.End(string(r.ID))
			}
		}
	}
	for i, c := range []struct {
		fault  fault
		reason string
		ends   bool // before the next one
	}{
		{refused("ValidationException: no such image"), "no such image", false},
		{broken("TERMINATED_WITH_ERRORS: bootstrap action 1 failed"), "bootstrap action 1 failed", true},
		{ends: true},
		{},
	} {
		count := 3 + i
		s.values = s.with(t, set{"clusters.main.core.count", fmt.Sprint(count)}, set{"clusters.main.tasks.spot.count", fmt.Sprint(count)})
		plan, err := changes.Preview(t.Context(), s.Stack, optpreview.Refresh())
		require.NoError(t, err)
		require.Contains(t, plan.Names(changes.Created), adhoc.name)
		require.Equal(t, []string{"emr-main-cluster", "emr-main-task-spot"}, plan.Names(changes.Updated), "%s", plan)

		adhoc.failWith(c.fault)
		_, err = s.Stack.Up(t.Context(), optup.ContinueOnError(), optup.Refresh())
		if c.fault == nil {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.reason)
		}
		s.requireNodes(t, before, count)
		if c.ends {
			ended()
		}
	}
}
