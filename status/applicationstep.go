package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/report"
)

// shownApplication is an application's page with what its links need.
type shownApplication struct {
	page   report.Application
	step   Step   // its own, or one that has its times only
	status Status // which servers are ready, and the cluster's name
}

// readApplication makes the page of an application: from the tables, or from its metrics as long
// as nobody has read its history. EMR and the step's log say how it ended, and why.
func (s Source) readApplication(ctx context.Context, id string, absent map[platform.Workload]string) (shown shownApplication, err error) {
	shown.page, err = s.inTables(ctx, id)
	switch {
	case errors.Is(err, errNotInTables):
		shown.page, _, err = s.live(ctx, id)
	case err == nil && shown.page.Ended.IsZero():
		// The tables have an application as it was when its cluster was read, for another's sake; of a
		// stream they judge all of its time. Only of a driver that was killed do they know more.
		live, seen, failed := s.live(ctx, id)
		if failed == nil && (!live.Ended.IsZero() || time.Since(seen) < silence) {
			shown.page = live
		}
	}
	if err != nil {
		return shown, err
	}
	shown.step = Step{Cluster: shown.page.Cluster, ID: shown.page.Step, TraceID: shown.page.TraceID}
	if err := s.addStep(ctx, &shown); err != nil {
		shown.page.Missing = append(shown.page.Missing, err.Error())
	}
	if err := s.addMoments(ctx, &shown.page); err != nil {
		shown.page.Missing = append(shown.page.Missing, err.Error())
	}
	shown.step.ApplicationIDs = []string{id}
	if at := shown.page.Started; !at.IsZero() {
		shown.step.Started, shown.step.Ended = &at, nil
		if ended := shown.page.Ended; !ended.IsZero() {
			shown.step.Ended = &ended
		}
	}
	shown.status = Status{Control: s.Config.Control, Clusters: s.known(shown.page.Cluster), Workloads: s.readyGrafana(ctx, absent)}
	return shown, nil
}

// known returns what is known of a cluster without a request.
func (s Source) known(id string) []Cluster {
	if s.Clusters == nil {
		return nil
	}
	known, is := s.Clusters.Known(id)
	if !is {
		return nil
	}
	return []Cluster{{ID: id, Name: known.Name}}
}

// readyGrafana returns Grafana, and whether it is ready; nothing if there is none. What is absent is
// not asked: its address may lead nowhere, and take all of a timeout.
func (s Source) readyGrafana(ctx context.Context, absent map[platform.Workload]string) []Workload {
	grafana, configured := s.Config.Endpoints[platform.WorkloadGrafana]
	if _, is := absent[platform.WorkloadGrafana]; !configured || is {
		return nil
	}
	return []Workload{s.probe(ctx, platform.WorkloadGrafana, grafana)}
}

// addStep adds what EMR says of an application's step, and the cause of its failure. A step with
// several applications does not say how each of them ended.
func (s Source) addStep(ctx context.Context, shown *shownApplication) error {
	page := &shown.page
	if s.Steps == nil || page.Step == "" {
		return nil
	}
	step, err := s.Steps.Step(ctx, page.Cluster, page.Step)
	if err != nil || step == nil {
		return err // names the cluster
	}
	step.TraceID = cmp.Or(step.TraceID, page.TraceID)
	steps := []Step{*step}
	err = s.AddApplications(ctx, steps)
	if err == nil {
		err = s.AddCauses(ctx, steps)
	}
	shown.step = steps[0]
	if ids := shown.step.ApplicationIDs; len(ids) > 1 || len(ids) == 1 && ids[0] != page.ID {
		return err
	}
	if page.Live {
		page.Outcome = outcomeOf(shown.step, page.Outcome)
	}
	if shown.step.State == types.StepStateFailed {
		page.Failed = true
		page.Cause = cmp.Or(shown.step.Cause, shown.step.Reason, page.Cause)
	}
	if err != nil {
		return fmt.Errorf("read why step %s failed: %w", page.Step, err)
	}
	return nil
}

// outcomeOf says in words how a step's only application ended.
func outcomeOf(step Step, otherwise string) string {
	switch step.State {
	case types.StepStateCompleted:
		return "Succeeded"
	case types.StepStateFailed:
		return "Failed"
	case types.StepStateCancelled, types.StepStateInterrupted:
		return "Killed"
	case types.StepStateRunning:
		return "Running"
	case types.StepStatePending, types.StepStateCancelPending:
	}
	return otherwise
}

// linksOf are the links of an application's page, for the client of a request: first back to the
// list, then to what else is known of it.
func (p page) linksOf(step Step, links []Link) []report.Link {
	all := []report.Link{{Title: "all applications", URL: ApplicationsPath}}
	if step.Started == nil {
		return all
	}
	for _, link := range p.resolve(links, p.variables(step)) {
		if !strings.HasSuffix(link.URL, ApplicationsPath+"/"+step.ApplicationIDs[0]) { // this page
			all = append(all, report.Link(link))
		}
	}
	return all
}

// lastSeen returns the time of a driver's last sample, and the begin of its wall clock.
func (r reading) lastSeen() (started, last time.Time) {
	last = time.UnixMilli(int64(r.at * 1e3)).UTC()
	return last.Add(-lasting(r.values[platform.MetricSparkWall])), last
}
