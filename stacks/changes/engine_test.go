package changes_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// TestEffectsOfEdits previews an edit of every configuration key in the long form. Else
// it previews the first edit with each outcome: what is replaced, what is refused.
func TestEffectsOfEdits(t *testing.T) {
	tried, triedOfShapes := edits(), editsOfShapes()
	if !testenv.Long() && !*update {
		tried, triedOfShapes = firstOfEachOutcome(tried), firstOfEachOutcome(triedOfShapes)
	}
	rows := slices.Concat(previewed(t, baseConfiguration, tried), previewed(t, shapes(), triedOfShapes))
	if !t.Failed() && len(rows) == len(tried)+len(triedOfShapes) {
		requireReference(t, rows, len(rows) == len(edits())+len(editsOfShapes()))
	}
}

// firstOfEachOutcome returns the edits whose expected outcome no earlier edit has.
func firstOfEachOutcome(all []edit) (out []edit) {
	seen := map[string]bool{}
	for _, e := range all {
		outcome := fmt.Sprint(e.effects, e.refused, e.engineError)
		if !seen[outcome] {
			out = append(out, e)
		}
		seen[outcome] = true
	}
	return out
}

// previewed previews each edit of a stack that was brought up with some values set.
func previewed(t *testing.T, base []set, edits []edit) []changes.Row {
	t.Helper()
	s := open(t, "dev", base...)
	s.up(t)
	unedited := s.values
	plan, err := changes.Preview(t.Context(), s.Stack)
	require.NoError(t, err)
	require.Empty(t, plan, "nothing was edited")

	var rows []changes.Row
	for _, e := range edits {
		t.Run(strings.Join(e.keys, " ")+" "+e.sets[0].value, func(t *testing.T) {
			s.values = s.with(t, e.sets...)
			defer func() { s.values = unedited }()
			plan, err := changes.Preview(t.Context(), s.Stack)
			if e.engineError != "" {
				require.ErrorContains(t, err, e.engineError)
			} else {
				require.NoError(t, err)
				requireEffects(t, e.effects, plan)
			}
			refusal := changes.Guard{}.Check(t.Context(), plan)
			require.Equal(t, e.refused, refusedNames(t, refusal), "%v", refusal)
			for _, lost := range plan.Lost() {
				require.Contains(t, e.refused, lost.Name, "would be lost, and no guard refuses it")
			}
			row := changes.Row{Keys: e.keys, Plan: plan, Err: err, Refusal: refusal}
			for _, v := range e.sets {
				row.Edit = append(row.Edit, v.path+": "+v.value)
			}
			if e.shown != nil {
				row.Edit = e.shown
			}
			rows = append(rows, row)
		})
	}
	return rows
}

// TestEveryKeyIsEdited requires an edit in the table for every editable key.
func TestEveryKeyIsEdited(t *testing.T) {
	covered := map[string]bool{}
	anyKey := strings.NewReplacer("clusters.main", "clusters.*", "tasks.spot", "tasks.*", "tenants.sales", "tenants.*",
		"schedules.nightly", "schedules.*")
	for _, e := range edits() {
		for _, k := range e.keys {
			covered[anyKey.Replace(k)] = true
		}
	}
	fields := config.Fields()
	for i, f := range fields {
		parent := i+1 < len(fields) && strings.HasPrefix(fields[i+1].Path, f.Path+".")
		if !parent {
			require.True(t, covered[f.Path], "no edit of %s", f.Path)
		}
	}
}

// requireEffects compares a plan with the patterns, in both directions.
func requireEffects(t *testing.T, want effects, got changes.Plan) {
	t.Helper()
	for _, effect := range changes.Effects() {
		names := got.Names(effect)
		for _, name := range names {
			require.True(t, slices.ContainsFunc(want[effect], func(p string) bool { return matches(t, p, name) }), "%s is %s", name, effect)
		}
		for _, p := range want[effect] {
			require.True(t, slices.ContainsFunc(names, func(name string) bool { return matches(t, p, name) }), "nothing like %s is %s; %v are",
				p, effect, names)
		}
	}
}

func matches(t *testing.T, pattern, name string) bool {
	t.Helper()
	ok, err := path.Match(pattern, name)
	require.NoError(t, err)
	return ok
}

// refusedNames returns the sorted names in a Guard's error.
func refusedNames(t *testing.T, err error) []string {
	t.Helper()
	var out []string
	for _, r := range refusals(t, err) {
		require.NotEmpty(t, r.Rule)
		require.NotEmpty(t, r.Remedy)
		out = append(out, r.Change.Name)
	}
	slices.Sort(out)
	return out
}

// refusals unwraps a Guard's error.
func refusals(t *testing.T, err error) []*changes.Refusal {
	t.Helper()
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok)
	var out []*changes.Refusal
	for _, e := range joined.Unwrap() {
		var r *changes.Refusal
		require.ErrorAs(t, e, &r)
		out = append(out, r)
	}
	return out
}
