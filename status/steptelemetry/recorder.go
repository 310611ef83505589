// Package steptelemetry sends telemetry of EMR steps from the control node: one span
// for each step that has ended, whoever submitted it, and metrics of their number and
// duration.
//
// EMR sends no event when a step ends, so the steps of all clusters that report are
// read in the background. A span has the ids that the step's arguments carry, or a hash
// of the step's id, so a repeated span is the same span. A small file keeps what was
// read, so that a restart repeats nothing; asking Tempo instead would be a search for
// each step, and no answer while Tempo is down.
//
// It is not the status page, which shows the last steps, and stores no telemetry.
package steptelemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/status/recording"
)

const (
	// logDelay is how long a step's log may take to the store. EMR does not always name
	// a step's applications, nor why it failed; its log does.
	logDelay = 30 * time.Second

	// verdictDelay is how long the last metrics of a step's applications may take to the store:
	// metrics arrive every ten seconds, and a killed driver sends no last ones.
	verdictDelay = 45 * time.Second

	// forgetAfter is longer than horizon: a cluster that is forgotten sooner would have its
	// spans sent again.
	forgetAfter = 2 * horizon
)

// Recorder sends spans and metrics of steps.
type Recorder struct {
	*recording.Loop

	source    status.Source // of the clusters' nodes, and of the steps' logs
	folder    string        // keeps the positions
	reader    reader
	sender    *sender
	positions positions
	clusters  map[string]*cluster
	unread    map[string][]string // applications of which the profiler does not know yet, by cluster
	stepless  map[string]bool     // applications without a step that ended lately
}

// New returns a recorder of the steps that the source reads. It sends to the collector
// of the source's configuration. The folder keeps what was read; "" forgets it with the
// process.
func New(ctx context.Context, source status.Source, folder string) (*Recorder, error) {
	sender, err := newSender(ctx, source.Config)
	if err != nil {
		return nil, err
	}
	known, err := loadPositions(folder)
	if err != nil { // the horizon bounds what is sent again
		slog.Warn("spans of steps are sent again", "since", time.Now().Add(-horizon), "error", err)
	}
	r := &Recorder{
		source: source, folder: folder, reader: newReader(source.Steps), sender: sender,
		positions: known, clusters: map[string]*cluster{}, unread: map[string][]string{},
	}
	r.Loop = recording.New("steps", r.round)
	for id := range known {
		r.clusters[id] = newCluster(id)
	}
	return r, nil
}

// round records the steps of all clusters once.
func (r *Recorder) round(ctx context.Context, now time.Time) []error {
	var problems []error
	add := func(err error) {
		if err != nil {
			problems = append(problems, err)
		}
	}
	add(r.observe(ctx, now))
	for _, id := range slices.Sorted(maps.Keys(r.clusters)) {
		c := r.clusters[id]
		if now.Before(c.retry) {
			add(c.failure)
			continue
		}
		got, err := r.reader.read(ctx, c.id, r.positions[id], now)
		if c.after(err, now); err != nil {
			add(c.failure)
			continue
		}
		add(r.record(ctx, c, got, now))
	}
	add(r.positions.save(r.folder))
	add(r.addStepless(ctx))
	add(r.wake(ctx))
	return problems
}

// observe finds the clusters whose nodes report. The others remain until their steps
// have ended: nodes may be silent while a step runs.
func (r *Recorder) observe(ctx context.Context, now time.Time) error {
	nodes, err := r.source.Nodes(ctx)
	if err != nil {
		return err // as the status page says it
	}
	masters := map[string][]string{}
	for _, node := range nodes {
		if node.Role == platform.RoleControl || !r.lists(node.Cluster) {
			continue
		}
		hosts := masters[node.Cluster]
		if node.Role == platform.RoleMaster {
			hosts = append(hosts, node.Host)
		}
		masters[node.Cluster] = hosts
	}
	for id, hosts := range masters {
		if r.clusters[id] == nil {
			r.clusters[id] = newCluster(id)
		}
		if len(hosts) == 1 { // with several, EMR does not say which one runs a step
			r.clusters[id].host = hosts[0]
		}
		at := r.positions[id]
		at.Seen = now
		r.positions[id] = at
	}
	for id := range r.clusters {
		_, reports := masters[id]
		at := r.positions[id]
		if !reports && (len(at.Open) == 0 || at.Seen.Before(now.Add(-horizon))) {
			delete(r.clusters, id)
		}
	}
	maps.DeleteFunc(r.positions, func(_ string, at position) bool { return at.Seen.Before(now.Add(-forgetAfter)) })
	return nil
}

// lists reports whether EMR is asked about a cluster's steps: anybody can send telemetry of ids
// that are no cluster's, and EMR's quota is the account's. A cluster that starts waits for EMR's
// next listing.
func (r *Recorder) lists(id string) bool {
	return platform.IsClusterID(id) && (r.source.Clusters == nil || r.source.Clusters.Lists(id))
}

// record sends what has ended, and remembers what has not. What cannot be sent is read
// again in the next round.
func (r *Recorder) record(ctx context.Context, c *cluster, got reading, now time.Time) error {
	at := r.positions[c.id]
	if len(got.latest) > 0 {
		at.Newest, at.Created = got.latest[0].ID, got.latest[0].Created
	}
	at.Open = got.unseen
	var ended []status.Step
	for _, step := range got.open {
		if status.IsFinal(step.State) {
			ended = append(ended, step)
		} else {
			at.Open = append(at.Open, step.ID)
		}
	}
	failure := r.source.AddApplications(ctx, ended)
	if failure != nil {
		failure = fmt.Errorf("read the applications of the steps: %w", failure)
	}
	if err := r.source.AddCauses(ctx, ended); err != nil {
		failure = errors.Join(failure, fmt.Errorf("read why steps failed: %w", err))
	}
	if err := r.source.AddPhases(ctx, ended); err != nil {
		failure = errors.Join(failure, fmt.Errorf("read the phases of the steps' applications: %w", err))
	}
	var spans []sdktrace.ReadOnlySpan
	var done []status.Step
	for _, step := range ended {
		if !isComplete(step, now) {
			at.Open = append(at.Open, step.ID)
			continue
		}
		done = append(done, step)
		if step.Span.IsValid() && step.Started != nil {
			spans = append(spans, stepSpan(step, c.labels()))
		}
	}
	if err := r.sender.sendSpans(ctx, spans); err != nil {
		failure = errors.Join(failure, err)
		for _, step := range done {
			at.Open = append(at.Open, step.ID)
		}
		done = nil
	}
	for _, step := range done {
		c.count[step.State]++
	}
	r.toWake(c.id, done, now)
	r.positions[c.id] = at
	return errors.Join(failure, r.sender.sendMetrics(ctx, c, got.latest, now))
}

// isComplete reports whether all is known of a step in its final state.
func isComplete(step status.Step, now time.Time) bool {
	if step.Started == nil {
		return true
	}
	known := len(step.ApplicationIDs) > 0 && step.State != types.StepStateFailed // its log says why
	switch {
	case step.Ended == nil:
		return false
	case step.Ended.Before(now.Add(-verdictDelay)):
		return true
	case !known && !step.Ended.Before(now.Add(-logDelay)):
		return false
	}
	judged := 0
	for _, of := range step.Phases {
		if of.Ended {
			judged++
		}
	}
	return judged >= len(step.ApplicationIDs)
}
