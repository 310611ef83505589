package changes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// Effect is what a plan does to a resource.
type Effect string

// The effects, least disruptive first.
const (
	Created Effect = "created"
	Updated Effect = "updated in place"
	// Unprotected resources lose their deletion protection; they may be updated
	// in place as well.
	Unprotected Effect = "no longer protected"
	// Unforeseen is an update whose extent depends on values that do not exist
	// yet, such as the address of a cluster that will be replaced.
	Unforeseen Effect = "known only during the update"
	Restarted  Effect = "restarted"
	Replaced   Effect = "replaced"
	Deleted    Effect = "deleted"
)

// Effects lists the effects, least disruptive first.
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
	Holds     string   // data that is lost with the resource, see Stateful; "" = none
	Protected bool     // the engine refuses to replace or delete it
	Retained  bool     // it continues to exist when the stack deletes it

	old, new map[string]any // inputs before and after
}

// Loses reports whether the stack would lose the data that the resource holds.
func (c Change) Loses() bool {
	return c.Holds != "" && (c.Effect == Replaced || c.Effect == Deleted)
}

// String formats the change on one line.
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

// Plan lists the changes of a preview in the order of the engine's steps.
// Unchanged resources are left out.
type Plan []Change

// Names returns the sorted logical names of the resources with an effect.
// Resources of different types that share a name are listed once.
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

// Lost returns the changes that lose a resource's data.
func (p Plan) Lost() Plan {
	return slices.DeleteFunc(slices.Clone(p), func(c Change) bool { return !c.Loses() })
}

// String formats one line per change.
func (p Plan) String() string {
	lines := make([]string, 0, len(p))
	for _, c := range p {
		lines = append(lines, c.String())
	}
	return strings.Join(lines, "\n")
}

// FromEvents classifies the events of a preview or an update. It leaves out components,
// stashes and unchanged providers: nothing in the cloud corresponds to them.
func FromEvents(stream []events.EngineEvent) Plan {
	var plan Plan
	for _, e := range stream {
		if e.ResourcePreEvent == nil {
			continue
		}
		m := e.ResourcePreEvent.Metadata
		s := step{op: m.Op, urn: m.URN, typ: m.Type, keys: m.Keys, differs: m.Diffs, old: stateOfStep(m.Old), new: stateOfStep(m.New)}
		for path, d := range m.DetailedDiff {
			s.note(path, string(d.Kind))
		}
		plan.add(s)
	}
	return plan
}

func stateOfStep(m *apitype.StepEventStateMetadata) *state {
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

// step is one step of the engine, read from its events or from a digest.
type step struct {
	op       apitype.OpType
	urn, typ string
	keys     []string // that force a replacement
	differs  []string // top-level properties
	paths    []string // in full, if the provider reports them
	forcing  []string // of paths, those that force a replacement
	old, new *state
}

// note records one entry of a detailed diff.
func (s *step) note(path, kind string) {
	s.paths = append(s.paths, path)
	if strings.HasSuffix(kind, "-replace") {
		s.forcing = append(s.forcing, path)
	}
}

// add records a step: a replacement takes several. Of several steps of a resource, it
// keeps the replacement with the most details.
func (p *Plan) add(s step) {
	c, ok := s.change()
	if !ok {
		return
	}
	i := slices.IndexFunc(*p, func(known Change) bool { return known.URN == c.URN })
	if i < 0 {
		*p = append(*p, c)
	} else if before := (*p)[i]; before.Effect != Replaced || len(before.Paths) == 0 && len(c.Paths) > 0 {
		(*p)[i] = c
	}
}

// change classifies a step. It is false for steps that change nothing in the
// cloud.
func (s step) change() (Change, bool) {
	last, now := s.old, s.new
	if last == nil {
		last = now
	}
	if last == nil || !last.custom || s.typ == typeStash || strings.HasPrefix(s.typ, "pulumi:") && !isReplacement(s.op) {
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
	case isReplacement(s.op):
		c.Effect, c.Paths = Replaced, or(s.forcing, s.keys)
	case s.op == apitype.OpCreate || s.op == apitype.OpImport:
		c.Effect, c.Paths = Created, nil
	case (s.op == apitype.OpUpdate || s.op == apitype.OpSame) && now != nil && last.protect && !now.protect:
		c.Effect, c.Paths = Unprotected, or(s.paths, s.differs)
	case s.op == apitype.OpUpdate:
		c.Effect, c.Paths = updateEffect(s.typ, or(s.paths, s.differs))
	case s.op == apitype.OpDelete:
		c.Effect, c.Paths = Deleted, nil
	default:
		return Change{}, false
	}
	c.Holds = Stateful()[s.typ]
	slices.Sort(c.Paths)
	return c, true
}

// updateEffect classifies an update in place and returns the paths that differ.
func updateEffect(typ string, paths []string) (Effect, []string) {
	switch {
	case len(paths) == 0:
		return Unforeseen, nil
	case restarts(typ, paths):
		return Restarted, paths
	default:
		return Updated, paths
	}
}

func isReplacement(op apitype.OpType) bool {
	return op == apitype.OpReplace || op == apitype.OpCreateReplacement || op == apitype.OpDeleteReplaced || op == apitype.OpImportReplacement
}

// or returns a copy of paths, or of fallback if paths is empty.
func or(paths, fallback []string) []string {
	if len(paths) > 0 {
		return slices.Clone(paths)
	}
	return slices.Clone(fallback)
}
