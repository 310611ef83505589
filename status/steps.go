package status

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/smithy-go"

	"github.com/emr-observatory/emr-observatory/internal/stepcause"
	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	lastSteps = 10 // in the status

	// stepsAge is how old the answer of EMR may be. All that an account does shares the
	// quotas of EMR's API, so reloading the page must not use them up.
	stepsAge = 15 * time.Second

	// maxStepClusters bounds the requests for one status.
	maxStepClusters = 8
)

// Step is an EMR step.
type Step struct {
	Cluster        string          `json:"cluster"`
	ID             string          `json:"id"`
	Name           string          `json:"name"`
	State          types.StepState `json:"state"`
	Created        time.Time       `json:"created"`
	Started        *time.Time      `json:"started,omitempty"`
	Ended          *time.Time      `json:"ended,omitempty"`
	Reason         string          `json:"reason,omitempty"`         // why it did not complete, as EMR says
	Cause          string          `json:"cause,omitempty"`          // why it failed, as its own logs tell
	TraceID        string          `json:"traceId,omitempty"`        // left out of steps without a span
	ApplicationIDs []string        `json:"applicationIds,omitempty"` // YARN's, if EMR or the step's log names them
	Span           StepSpan        `json:"-"`

	Phases []ApplicationPhases `json:"phases,omitempty"` // of the applications that send them
}

// Took is how long the step ran until it ended, or has been running at now; zero
// before its start.
func (s Step) Took(now time.Time) time.Duration {
	if s.Started == nil {
		return 0
	}
	end := now
	if s.Ended != nil {
		end = *s.Ended
	}
	return max(0, end.Sub(*s.Started)).Round(time.Second)
}

// IsFinal reports whether a step in this state has ended.
func IsFinal(state types.StepState) bool {
	return slices.Contains([]types.StepState{
		types.StepStateCompleted, types.StepStateFailed, types.StepStateCancelled, types.StepStateInterrupted,
	}, state)
}

// StepReader reads steps from EMR, and remembers them for stepsAge.
type StepReader struct {
	client  *emr.Client
	tracing Tracing

	mu   sync.Mutex
	seen map[string]stepReading // by cluster

	single map[string]stepReading // by step
}

// stepReading is an answer of EMR.
type stepReading struct {
	at    time.Time
	steps []Step
	err   error
}

// NewStepReader returns a reader of steps.
func NewStepReader(client *emr.Client, tracing Tracing) *StepReader {
	return &StepReader{client: client, tracing: tracing}
}

// read returns the steps of clusters, and an error for each cluster whose steps
// cannot be read. Of more clusters than it may ask about it asks about those with the
// oldest answers, and returns how many have none yet. A request that ends early does not
// spoil what others get.
func (r *StepReader) read(ctx context.Context, clusters []Cluster) (steps []Step, unread int, errs []error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	r.mu.Lock() // meanwhile further readers wait, and then find the answer
	defer r.mu.Unlock()
	now := time.Now()
	current := map[string]stepReading{} // forgets clusters that have gone
	var due []string
	for _, cluster := range clusters {
		current[cluster.ID] = r.seen[cluster.ID]
		if !current[cluster.ID].holds(cluster, now) {
			due = append(due, cluster.ID)
		}
	}
	slices.SortStableFunc(due, func(a, b string) int { return r.seen[a].at.Compare(r.seen[b].at) })
	var requests sync.WaitGroup
	var lock sync.Mutex
	for _, id := range due[:min(len(due), maxStepClusters)] {
		requests.Go(func() {
			steps, err := r.list(ctx, id)
			lock.Lock()
			defer lock.Unlock()
			current[id] = stepReading{now, steps, err}
		})
	}
	requests.Wait()
	r.seen = current
	for _, cluster := range clusters {
		kept := current[cluster.ID]
		steps = append(steps, kept.steps...)
		if kept.err != nil {
			errs = append(errs, kept.err)
		}
		if kept.at.IsZero() {
			unread++
		}
	}
	return steps, unread, errs
}

// holds reports whether the answer still stands. Steps end with their cluster.
func (kept stepReading) holds(of Cluster, now time.Time) bool {
	final := of.Ended != nil && kept.err == nil && kept.at.After(of.Ended.Add(time.Minute))
	return final || now.Sub(kept.at) < stepsAge
}

// Step returns one step, nil if its cluster has none with this id. An answer stands for stepsAge.
func (r *StepReader) Step(ctx context.Context, cluster, id string) (*Step, error) {
	if !platform.IsClusterID(cluster) || !platform.IsStepID(id) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(r.single, func(_ string, kept stepReading) bool { return now.Sub(kept.at) >= stepsAge })
	kept, known := r.single[id]
	if !known {
		steps, _, err := r.List(ctx, &emr.ListStepsInput{ClusterId: aws.String(cluster), StepIds: []string{id}})
		kept = stepReading{now, steps, err}
		if r.single == nil {
			r.single = map[string]stepReading{}
		}
		r.single[id] = kept
	}
	if kept.err != nil || len(kept.steps) == 0 {
		return nil, kept.err
	}
	return new(kept.steps[0]), nil
}

// list returns the newest steps of a cluster.
func (r *StepReader) list(ctx context.Context, cluster string) ([]Step, error) {
	if !platform.IsClusterID(cluster) {
		return nil, fmt.Errorf("read steps of cluster %q: this is no id of an EMR cluster", cluster)
	}
	steps, _, err := r.List(ctx, &emr.ListStepsInput{ClusterId: aws.String(cluster)})
	return steps, err
}

// List returns a page of a cluster's steps, and the marker of the next one. Without a
// filter it has the newest, at most 50 (EMR API Reference, ListSteps).
func (r *StepReader) List(ctx context.Context, input *emr.ListStepsInput) ([]Step, *string, error) {
	cluster := aws.ToString(input.ClusterId)
	out, err := r.client.ListSteps(ctx, input)
	if err != nil {
		return nil, nil, explainRefusal(cluster, err)
	}
	steps := make([]Step, 0, len(out.Steps))
	for _, summary := range out.Steps {
		steps = append(steps, newStep(cluster, summary, r.tracing))
	}
	return steps, out.Marker, nil
}

// ErrStepsRefused is the error for a cluster whose steps the control node may not list.
var ErrStepsRefused = errors.New("it is no cluster of this stack, or lacks the stack's tags (without the profiler, the control node's " +
	"role lists the steps of clusters with these tags only); give the cluster the tags, or keep its nodes from reporting here")

// explainRefusal explains why EMR did not return the steps of a cluster.
func explainRefusal(cluster string, err error) error {
	var answer smithy.APIError
	if errors.As(err, &answer) && strings.HasPrefix(answer.ErrorCode(), "AccessDenied") {
		return fmt.Errorf("read steps of cluster %s: %w (%w)", cluster, ErrStepsRefused, withoutRequest(err))
	}
	return fmt.Errorf("read steps of cluster %s: %w", cluster, withoutRequest(err))
}

func newStep(cluster string, s types.StepSummary, tracing Tracing) Step {
	step := Step{Cluster: cluster, ID: aws.ToString(s.Id), Name: aws.ToString(s.Name)}
	if s.Status != nil {
		step.State = s.Status.State
		if timeline := s.Status.Timeline; timeline != nil {
			step.Created, step.Started, step.Ended = aws.ToTime(timeline.CreationDateTime), timeline.StartDateTime, timeline.EndDateTime
		}
		step.Reason = reasonOf(*s.Status)
	}
	var args []string
	if s.Config != nil {
		args = s.Config.Args
	}
	if step.Span = tracing.spanOf(step.ID, args); step.Span.IsValid() {
		step.TraceID = step.Span.TraceID().String()
	}
	if s.AdditionalInfo != nil {
		step.ApplicationIDs = s.AdditionalInfo.ResourceManagerApplicationIds
	}
	return step
}

// reasonOf returns why a step did not complete, "" if EMR gives no reason.
func reasonOf(status types.StepStatus) string {
	var parts []string
	if details := status.FailureDetails; details != nil {
		parts = append(parts, aws.ToString(details.Reason), stepcause.Message(aws.ToString(details.Message)))
	}
	if reason := status.StateChangeReason; reason != nil && status.State != types.StepStateCompleted {
		parts = append(parts, aws.ToString(reason.Message))
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return strings.TrimSpace(part) == "" })
	return strings.Join(slices.Compact(parts), ": ")
}

// readSteps returns the last steps of clusters, the schedules with their runs among more of them, and what could
// not be read.
func (s Source) readSteps(ctx context.Context, clusters []Cluster) (steps []Step, schedules []Schedule, problems []string) {
	if s.Steps == nil || len(clusters) == 0 {
		return []Step{}, s.schedules(nil, s.knowsClusters(), time.Now()), nil
	}
	steps, unread, errs := s.Steps.read(ctx, clusters)
	schedules = s.schedules(steps, s.knowsClusters() && unread == 0 && len(errs) == 0, time.Now())
	if unread > 0 {
		problems = append(problems, fmt.Sprintf(
			"steps of %d of the %d clusters are not read yet: a status asks EMR about those of %d; read it again",
			unread, len(clusters), maxStepClusters))
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return b.Created.Compare(a.Created) })
	steps = append([]Step{}, steps[:min(len(steps), lastSteps)]...)
	if err := s.AddApplications(ctx, steps); err != nil {
		errs = append(errs, fmt.Errorf("read the applications of the steps: %w", err))
	}
	if err := s.AddCauses(ctx, steps); err != nil {
		errs = append(errs, fmt.Errorf("read why steps failed: %w", err))
	}
	if err := s.AddPhases(ctx, steps); err != nil {
		errs = append(errs, fmt.Errorf("read the phases of the steps: %w", err))
	}
	for _, err := range errs {
		problems = append(problems, err.Error())
	}
	return steps, schedules, problems
}
