package changes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// Effect is what becomes of a resource.
type Effect string

// The effects, mildest first.
const (
	Created Effect = "created"
	Updated Effect = "updated in place"
	// Unprotected is what the engine would no longer refuse to delete; it may
	// be updated in place as well.
	Unprotected Effect = "no longer protected"
	// Unforeseen is an update whose extent depends on what does not exist yet,
	// such as the address of a cluster that is to be replaced.
	Unforeseen Effect = "known only during the update"
	Restarted  Effect = "restarted"
	Replaced   Effect = "replaced"
	Deleted    Effect = "deleted"
)

// Effects lists the effects, mildest first.
func Effects() []Effect {
	return []Effect{Created, Updated, Unprotected, Unforeseen, Restarted, Replaced, Deleted}
}

// Change is what a plan does to one resource.
type Change struct {
	URN, Type string
	Name      string // logical name
	ID        string // "" where it does not exist yet
	Effect    Effect
	Paths     []string // properties that differ; of a replacement, those that force it
	Holds     string   // what goes with the resource, see Stateful; "" = nothing
	Protected bool     // the engine refuses to replace or delete it
	Retained  bool     // it stays where it is when the stack lets go of it

	old, new map[string]any // inputs before and after
}

// Loses tells whether what the resource holds would be gone from the stack.
func (c Change) Loses() bool {
	return c.Holds != "" && (c.Effect == Replaced || c.Effect == Deleted)
}

// String is the change on one line.
func (c Change) String() string {
	line := fmt.Sprintf("%s %s: %s", c.Type, c.Name, c.Effect)
	if len(c.Paths) > 0 && c.Effect != Created {
		line += " by " + strings.Join(c.Paths, ", ")
	}
	if c.Loses() {
		line += "; holds " + c.Holds
	}
	return line
}

// Plan is what a preview would do, without what stays as it is. It is ordered
// by the engine's steps.
type Plan []Change

// Names gives the logical names of the resources with an effect, sorted. A
// resource shares its name with others of another type: both count once.
func (p Plan) Names(e Effect) []string {
	var out []string
	for _, c := range p {
		if c.Effect == e {
			out = append(out, c.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Lost gives the changes that lose what a resource holds.
func (p Plan) Lost() Plan {
	return slices.DeleteFunc(slices.Clone(p), func(c Change) bool { return !c.Loses() })
}

// String is one line per change.
func (p Plan) String() string {
	lines := make([]string, 0, len(p))
	for _, c := range p {
		lines = append(lines, c.String())
	}
	return strings.Join(lines, "\n")
}

// Of classifies the events of a preview or an update. Components and
// providers that stay are left out: nothing stands behind them.
func Of(stream []events.EngineEvent) Plan {
	var r reading
	for _, e := range stream {
		if e.ResourcePreEvent == nil {
			continue
		}
		m := e.ResourcePreEvent.Metadata
		s := step{op: m.Op, urn: m.URN, typ: m.Type, keys: m.Keys, differs: m.Diffs, old: stateOf(m.Old), new: stateOf(m.New)}
		for path, d := range m.DetailedDiff {
			s.note(path, string(d.Kind))
		}
		r.add(s)
	}
	return r.plan
}

func stateOf(m *apitype.StepEventStateMetadata) *state {
	if m == nil {
		return nil
	}
	return &state{id: m.ID, custom: m.Custom, protect: m.Protect, retain: m.RetainOnDelete, inputs: m.Inputs}
}

// state is a resource before or after a step.
type state struct {
	id                      string
	custom, protect, retain bool
	inputs                  map[string]any
}

// step is one step of the engine, from whichever account of it.
type step struct {
	op       apitype.OpType
	urn, typ string
	keys     []string // that force a replacement
	differs  []string // top-level properties
	paths    []string // in full, where the provider tells them
	forcing  []string // of paths, those that force a replacement
	old, new *state
}

// note takes one entry of a detailed difference.
func (s *step) note(path, kind string) {
	s.paths = append(s.paths, path)
	if strings.HasSuffix(kind, "-replace") {
		s.forcing = append(s.forcing, path)
	}
}

// reading gathers steps: a replacement takes several. Its zero value is empty.
type reading struct {
	plan Plan
	at   map[string]int // index in plan by URN
}

func (r *reading) add(s step) {
	c, ok := s.change()
	if !ok {
		return
	}
	i, seen := r.at[c.URN]
	if !seen {
		if r.at == nil {
			r.at = map[string]int{}
		}
		r.at[c.URN] = len(r.plan)
		r.plan = append(r.plan, c)
		return
	}
	if before := r.plan[i]; before.Effect != Replaced || len(before.Paths) == 0 && len(c.Paths) > 0 {
		r.plan[i] = c
	}
}

func (s step) change() (Change, bool) {
	last, now := s.old, s.new
	if last == nil {
		last = now
	}
	if last == nil || !last.custom || strings.HasPrefix(s.typ, "pulumi:") && !replacing(s.op) {
		return Change{}, false
	}
	c := Change{
		URN: s.urn, Type: s.typ, Name: s.urn[strings.LastIndex(s.urn, "::")+len("::"):],
		ID: last.id, Protected: last.protect, Retained: last.retain, old: last.inputs, Paths: s.paths,
	}
	if now != nil {
		c.new = now.inputs
	}
	switch {
	case replacing(s.op):
		c.Effect, c.Paths = Replaced, or(s.forcing, s.keys)
	case s.op == apitype.OpCreate || s.op == apitype.OpImport:
		c.Effect, c.Paths = Created, nil
	case (s.op == apitype.OpUpdate || s.op == apitype.OpSame) && now != nil && last.protect && !now.protect:
		c.Effect, c.Paths = Unprotected, or(s.paths, s.differs)
	case s.op == apitype.OpUpdate:
		c.Effect, c.Paths = updating(s.typ, or(s.paths, s.differs))
	case s.op == apitype.OpDelete:
		c.Effect, c.Paths = Deleted, nil
	default:
		return Change{}, false
	}
	c.Holds = Stateful()[s.typ]
	slices.Sort(c.Paths)
	return c, true
}

func updating(typ string, paths []string) (Effect, []string) {
	switch {
	case len(paths) == 0:
		return Unforeseen, nil
	case restarts(typ, paths):
		return Restarted, paths
	default:
		return Updated, paths
	}
}

func replacing(op apitype.OpType) bool {
	return op == apitype.OpReplace || op == apitype.OpCreateReplacement || op == apitype.OpDeleteReplaced || op == apitype.OpImportReplacement
}

func or(paths, fallback []string) []string {
	if len(paths) > 0 {
		return slices.Clone(paths)
	}
	return slices.Clone(fallback)
}
