package submit

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/status"
)

const (
	// PhasesWait is how long it may take after a step's end until the platform knows the
	// phases of its applications.
	PhasesWait = 30 * time.Second

	// phasesSettle is when what a driver has sent last can be read: the collectors of the
	// node and of the control node may keep a batch for 2 s each, and VictoriaMetrics
	// shows a sample after 2 s; the rest is for a busy control node. Phases that are
	// not final by then never will be: the driver was killed.
	phasesSettle = 15 * time.Second

	phasesInterval = time.Second // the status server reads two stores of its own machine
)

// StatusPage is the platform's status page, which knows the phases of a step's
// applications.
type StatusPage struct {
	URL    string        // the stack output statusUrl; empty asks nothing
	Access status.Access // its password and CA
	Settle time.Duration // how long after the step's end its phases have to be final; default 15 s
}

var errNoPhases = errors.New("no driver has sent its final phases")

// awaitPhases returns the phases of the applications of a step that was found ended at
// a time. They are an extra: where they cannot be had, it says so and returns none.
func awaitPhases(ctx context.Context, o Options, ended time.Time, result Result) []status.ApplicationPhases {
	if o.PhasesWait <= 0 || result.Started == nil {
		return nil
	}
	if o.Status.URL == "" {
		o.say("where its time went is on the status page (stack output statusUrl)")
		return nil
	}
	ctx, cancel := context.WithDeadline(ctx, ended.Add(o.PhasesWait))
	defer cancel()
	settled := ended.Add(o.Status.Settle)
	step := status.Step{
		Cluster: result.Cluster, ID: result.StepID, Started: result.Started, Ended: result.Ended, ApplicationIDs: result.ApplicationIDs,
	}
	var found []status.ApplicationPhases
	err := poll.Until(ctx, poll.Options{Interval: phasesInterval}, func(ctx context.Context) error {
		read, err := status.FetchPhases(ctx, o.Status.URL, o.Status.Access, step)
		if err == nil {
			found = read
		}
		switch {
		case err != nil && (ctx.Err() != nil || status.Temporary(err)):
			return err
		case err != nil:
			return poll.Permanent(err)
		case len(found) < max(1, len(step.ApplicationIDs)) && !neverStarted(result),
			slices.ContainsFunc(found, isOpen) && time.Now().Before(settled):
			return errNoPhases
		}
		return nil
	})
	if err != nil && !errors.Is(err, errNoPhases) && len(found) == 0 { // an earlier answer says more than the last error
		o.say("where its time went is not known here: %v", err)
	}
	return found
}

// isOpen reports whether a driver may send more.
func isOpen(phases status.ApplicationPhases) bool { return !phases.Ended }

// neverStarted reports whether a step failed before it had an application.
func neverStarted(result Result) bool {
	return result.Failure != nil && len(result.ApplicationIDs) == 0
}
