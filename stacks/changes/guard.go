package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Guard sets what a plan may lose. Its zero value accepts no loss.
type Guard struct {
	// Accepted are logical names of resources that may be lost. Protected
	// resources are refused regardless, as the engine would refuse them too.
	Accepted []string
	// Ephemeral marks a stack whose data may be lost. Unfinished EMR steps
	// block a change even then.
	Ephemeral bool
	// Unfinished lists a cluster's unfinished steps, see UnfinishedSteps. With
	// nil, every cluster counts as busy.
	Unfinished func(ctx context.Context, clusterID string) ([]string, error)
	// Begin, if set, is called by Destroy after the checks and before the first
	// resource is deleted.
	Begin func() error
}

// Refusal is one planned change that must not be made.
type Refusal struct {
	Change Change
	Rule   string // why not
	Remedy string // what to do instead
}

// Error formats the change, the rule, the way in place if there is one, and the remedy on
// one line.
func (r *Refusal) Error() string {
	remedy := r.Remedy
	if way := inPlace(r.Change); way != "" {
		remedy = way + "; " + remedy
	}
	return fmt.Sprintf("%s, which %s; %s", r.Change, r.Rule, remedy)
}

// Check refuses the plan of an update that would lose a resource's data, or that
// AWS would refuse half-way. It returns all reasons as one joined error of
// *Refusal.
func (g Guard) Check(ctx context.Context, p Plan) error {
	return g.checkEach(ctx, p, func(c Change) *Refusal {
		switch {
		case g.Ephemeral:
			return nil
		case c.Type == typeCluster:
			return &Refusal{c, "would end its steps", "see that no step runs, and accept it by the name " + c.Name}
		default:
			return &Refusal{c, "would lose what it holds", "save it first, and accept it by the name " + c.Name}
		}
	})
}

// CheckDestroy refuses the plan of a destroy if a resource is protected, if EMR
// steps are unfinished, or if AWS would refuse it half-way. All other data may be
// lost: a destroy is meant to delete it.
func (g Guard) CheckDestroy(ctx context.Context, p Plan) error {
	return g.checkEach(ctx, p, func(Change) *Refusal { return nil })
}

// checkEach checks every change; rest decides on losses that checkAlways permits.
func (g Guard) checkEach(ctx context.Context, p Plan, rest func(Change) *Refusal) error {
	var errs []error
	for _, c := range p {
		r, err := g.checkAlways(ctx, c)
		if err == nil && r == nil && c.Loses() && !slices.Contains(g.Accepted, c.Name) && !g.queriesEMR(c) {
			r = rest(c)
		}
		switch {
		case err != nil:
			errs = append(errs, err)
		case r != nil:
			errs = append(errs, r)
		}
	}
	return errors.Join(errs...)
}

// queriesEMR reports whether EMR is queried for a cluster's unfinished steps.
func (g Guard) queriesEMR(c Change) bool { return c.Type == typeCluster && g.Unfinished != nil }

// checkAlways applies the rules shared by updates and destroys.
func (g Guard) checkAlways(ctx context.Context, c Change) (*Refusal, error) {
	if r := impossible(c); r != nil {
		return r, nil
	}
	gone := c.Effect == Replaced || c.Effect == Deleted
	if gone && c.Protected {
		return &Refusal{c, "is protected", "leave it as it is; or save what it holds, set ephemeral to true, update, and try again"}, nil
	}
	if !gone || !g.queriesEMR(c) || slices.Contains(g.Accepted, c.Name) {
		return nil, nil
	}
	steps, err := g.Unfinished(ctx, c.ID)
	if err != nil {
		return nil, fmt.Errorf("check the steps of cluster %s: %w", c.ID, err)
	}
	if len(steps) == 0 {
		return nil, nil
	}
	return &Refusal{c, "would end steps that run or wait: " + strings.Join(steps, ", "),
		"let them end first, or accept it by the name " + c.Name}, nil
}

// impossible finds changes that a preview accepts and AWS refuses half-way.
func impossible(c Change) *Refusal {
	switch c.Type {
	case typeVolume:
		// EBS User Guide, "Requirements for Elastic Volumes": a volume cannot shrink.
		if was, now := numberOrZero(c.old["size"]), numberOrZero(c.new["size"]); c.Effect == Updated && now < was {
			return &Refusal{c, fmt.Sprintf("would shrink it from %v to %v GiB: EBS only enlarges", was, now), "keep the size or enlarge it"}
		}
	case typeCluster:
		// EMR API, TerminateJobFlows: a protected cluster is not terminated, so a
		// replacement would leave two.
		if on, _ := c.old["terminationProtection"].(bool); on && (c.Effect == Replaced || c.Effect == Deleted) {
			return &Refusal{c, "EMR refuses to end: it has termination protection", "set its terminationProtection to false and update first"}
		}
	}
	return nil
}

func numberOrZero(v any) float64 {
	n, _ := v.(float64)
	return n
}
