package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Guard says what a plan may lose. Its zero value accepts nothing.
type Guard struct {
	// Accepted are logical names of resources whose loss somebody agreed to.
	// What is protected stays refused: the engine would refuse it too.
	Accepted []string
	// Ephemeral is a stack that said its data may vanish. Steps that have not
	// ended count even then.
	Ephemeral bool
	// Unfinished lists the steps of a cluster that have not ended, see
	// UnfinishedSteps. nil: nobody can be asked.
	Unfinished func(ctx context.Context, clusterID string) ([]string, error)
	// Begin is called by a Destroy that nothing refuses, before the first
	// resource goes. nil: nothing is.
	Begin func() error
}

// Refusal is one change that must not be made as it is planned.
type Refusal struct {
	Change Change
	Rule   string // why not
	Remedy string // what to do instead
}

// Error says what, why and what to do on one line.
func (r *Refusal) Error() string { return fmt.Sprintf("%s, which %s; %s", r.Change, r.Rule, r.Remedy) }

// Check refuses a plan of an update that would lose what a resource holds, or
// that AWS would refuse half-way. All reasons come in one joined error, each a
// *Refusal. Without Unfinished every cluster that goes counts as busy.
func (g Guard) Check(ctx context.Context, p Plan) error {
	return g.each(ctx, p, func(c Change) *Refusal {
		switch {
		case g.Ephemeral:
			return nil
		case c.Type == typeCluster:
			return &Refusal{c, "would end its steps", "see that none runs, and accept it by the name " + c.Name}
		default:
			return &Refusal{c, "would lose what it holds", "save it first, and accept it by the name " + c.Name}
		}
	})
}

// CheckDestroy refuses a plan of a destroy for what is protected, for steps
// that have not ended, and for what AWS would refuse half-way. Everything else
// goes: that is what a destroy is for.
func (g Guard) CheckDestroy(ctx context.Context, p Plan) error {
	return g.each(ctx, p, func(Change) *Refusal { return nil })
}

// each asks for every change; rest is asked about losses that no general rule
// decides.
func (g Guard) each(ctx context.Context, p Plan, rest func(Change) *Refusal) error {
	var faults []error
	for _, c := range p {
		r, err := g.general(ctx, c)
		if err == nil && r == nil && c.Loses() && !slices.Contains(g.Accepted, c.Name) && !g.asked(c) {
			r = rest(c)
		}
		switch {
		case err != nil:
			faults = append(faults, err)
		case r != nil:
			faults = append(faults, r)
		}
	}
	return errors.Join(faults...)
}

// asked tells whether EMR itself says if the cluster is busy.
func (g Guard) asked(c Change) bool { return c.Type == typeCluster && g.Unfinished != nil }

// general are the rules of updates and destroys alike.
func (g Guard) general(ctx context.Context, c Change) (*Refusal, error) {
	if r := impossible(c); r != nil {
		return r, nil
	}
	gone := c.Effect == Replaced || c.Effect == Deleted
	if gone && c.Protected {
		return &Refusal{c, "is protected", "leave it as it is; or save what it holds, set ephemeral to true, update, and try again"}, nil
	}
	if !gone || !g.asked(c) || slices.Contains(g.Accepted, c.Name) {
		return nil, nil
	}
	steps, err := g.Unfinished(ctx, c.ID)
	if err != nil {
		return nil, fmt.Errorf("ask for the steps of cluster %s: %w", c.ID, err)
	}
	if len(steps) == 0 {
		return nil, nil
	}
	return &Refusal{c, "would end steps that run or wait: " + strings.Join(steps, ", "), "let them end first, or accept it by the name " + c.Name}, nil
}

// impossible finds what a plan shows as done and AWS refuses half-way.
func impossible(c Change) *Refusal {
	switch c.Type {
	case typeVolume:
		// EBS User Guide, "Requirements for Elastic Volumes": a size only grows.
		if was, now := number(c.old["size"]), number(c.new["size"]); c.Effect == Updated && now < was {
			return &Refusal{c, fmt.Sprintf("would shrink it from %v to %v GiB: EBS only enlarges", was, now), "keep the size or enlarge it"}
		}
	case typeCluster:
		// EMR API, TerminateJobFlows: a protected cluster is not ended. A
		// replacement would leave two.
		if on, _ := c.old["terminationProtection"].(bool); on && (c.Effect == Replaced || c.Effect == Deleted) {
			return &Refusal{c, "EMR refuses to end: it has termination protection", "set emr.terminationProtection to false and update first"}
		}
	}
	return nil
}

func number(v any) float64 {
	n, _ := v.(float64)
	return n
}
