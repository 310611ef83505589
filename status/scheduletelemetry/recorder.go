// Package scheduletelemetry reads, on the control node, the queue of runs that EventBridge Scheduler did not
// start, keeps them for the status page, and sends how many there were as a metric. A message is deleted
// once it is kept.
//
// It does not start anything, and asks nobody about runs that did start: their steps report themselves.
package scheduletelemetry

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/status/recording"
)

// Queue is SQS, as far as it is read.
type Queue interface {
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessage(context.Context, *sqs.DeleteMessageInput, ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error)
}

const (
	batch = 10 // messages of a call, the most that SQS gives
	// readingTime bounds how long a round reads a queue that does not get empty: rounds are 20 seconds apart.
	readingTime = 15 * time.Second
)

// Recorder reads the queue.
type Recorder struct {
	*recording.Loop

	queue  Queue
	config status.Config
	sender recording.Sender
	spans  *recording.SpanSender // nil: runs have none

	mu   sync.Mutex
	kept kept
}

// New returns a recorder of the configuration's queue. folder outlives the process; "" keeps nothing beyond it.
// With traced, each lost run has a span.
func New(ctx context.Context, config status.Config, queue Queue, folder string, traced bool) (*Recorder, error) {
	sender, err := recording.NewSender(ctx, config, "schedules")
	if err != nil {
		return nil, err
	}
	r := &Recorder{queue: queue, config: config, sender: sender}
	if traced {
		spans, err := recording.NewSpanSender(ctx, sender)
		if err != nil {
			return nil, err
		}
		r.spans = &spans
	}
	if r.kept, err = load(folder); err != nil {
		return nil, err
	}
	if err := r.kept.know(config.Schedules, time.Now().UTC()); err != nil {
		return nil, err
	}
	r.Loop = recording.New("schedules", r.record)
	return r, nil
}

// Lost returns the runs that did not start.
func (r *Recorder) Lost() []status.LostRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept.current(time.Now())
}

// Since returns since when a schedule is as it is: its earlier runs may have been of another.
func (r *Recorder) Since(key string) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept.Known[key].Since
}

// record reads the queue until it is empty, and sends the counts.
func (r *Recorder) record(ctx context.Context, now time.Time) []error {
	var errs []error
	for begun := time.Now(); time.Since(begun) < readingTime; {
		more, err := r.read(ctx, now)
		if err != nil {
			errs = append(errs, err)
		}
		if !more {
			break
		}
	}
	for _, send := range []func(context.Context, time.Time) error{r.send, r.sendSpans} {
		if err := send(ctx, now); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// read receives one batch, keeps it, and deletes it. It reports whether there may be more.
func (r *Recorder) read(ctx context.Context, now time.Time) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, recording.ExportTimeout)
	defer cancel()
	received, err := r.queue.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &r.config.LostRuns, MaxNumberOfMessages: batch, MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameSentTimestamp},
	})
	if err != nil {
		return false, fmt.Errorf("read the queue of runs that did not start: %w", err)
	}
	if len(received.Messages) == 0 {
		return false, nil
	}
	var runs []status.LostRun
	for _, m := range received.Messages {
		runs = append(runs, lostRun(m, now))
	}
	r.mu.Lock()
	err = r.kept.add(runs, now)
	r.mu.Unlock()
	if err != nil {
		return false, err // they come again
	}
	for _, m := range received.Messages {
		done := &sqs.DeleteMessageInput{QueueUrl: &r.config.LostRuns, ReceiptHandle: m.ReceiptHandle}
		if _, err := r.queue.DeleteMessage(ctx, done); err != nil {
			return false, fmt.Errorf("delete a run that did not start from its queue: %w", err)
		}
	}
	return true, nil
}

// lostRun reads a dead-letter event (Scheduler User Guide, "Configuring a dead-letter queue").
func lostRun(m types.Message, now time.Time) status.LostRun {
	of := func(name string) string { return aws.ToString(m.MessageAttributes[name].StringValue) }
	at, err := time.Parse(time.RFC3339, of("SCHEDULED_TIME"))
	if err != nil { // the time at which it was sent is the same each time it comes
		sent, _ := strconv.ParseInt(m.Attributes[string(types.MessageSystemAttributeNameSentTimestamp)], 10, 64)
		at = time.UnixMilli(sent)
	}
	return status.LostRun{
		Schedule: keyOf(of("SCHEDULE_ARN")), Scheduled: at.UTC(), Reason: reason(of("ERROR_CODE"), of("ERROR_MESSAGE")), Told: now.UTC(),
	}
}

// send sends how many runs of each schedule did not start since the first was kept.
func (r *Recorder) send(ctx context.Context, now time.Time) error {
	r.mu.Lock()
	begun := r.kept.Begun
	var points []metricdata.DataPoint[int64]
	for _, s := range r.config.Schedules {
		points = append(points, metricdata.DataPoint[int64]{
			Attributes: attribute.NewSet(attribute.String(platform.LabelSchedule, s.Key)), StartTime: begun, Time: now, Value: r.kept.Count[s.Key],
		})
	}
	r.mu.Unlock()
	if len(points) == 0 {
		return nil
	}
	return r.sender.Send(ctx, "the runs that did not start", ofSchedules(), metricdata.Metrics{
		Name: platform.EmittedLostRuns, Unit: "{run}",
		Data: metricdata.Sum[int64]{DataPoints: points, Temporality: metricdata.CumulativeTemporality, IsMonotonic: true},
	})
}

// ofSchedules has no cluster and no host: EventBridge did not reach them.
func ofSchedules() *resource.Resource {
	return resource.NewSchemaless(attribute.String(string(platform.ServiceName), platform.ServiceSchedules))
}

// sendSpans sends the spans of the runs that have none yet. Their ids are hashes of the run, so that a span that
// is sent twice is one.
func (r *Recorder) sendSpans(ctx context.Context, _ time.Time) error {
	r.mu.Lock()
	unsent := r.kept.Unsent
	r.mu.Unlock()
	if r.spans == nil || len(unsent) == 0 {
		return nil
	}
	var spans []sdktrace.ReadOnlySpan
	for _, run := range unsent {
		id := run.Schedule + "/" + run.Scheduled.Format(time.RFC3339)
		spans = append(spans, recording.Span{
			Name: "schedule " + run.Schedule, Of: ofSchedules(), Start: run.Scheduled, End: run.Scheduled, Failure: "did not start: " + run.Reason,
			IDs: trace.NewSpanContext(trace.SpanContextConfig{
				TraceID: platform.TraceID(id), SpanID: platform.StepSpanID(id), TraceFlags: trace.FlagsSampled,
			}),
			Attributes: []attribute.KeyValue{
				attribute.String(string(platform.SparkKind), string(platform.SpanLostRun)), attribute.String(string(platform.Schedule), run.Schedule),
			},
		}.Ended())
	}
	if err := r.spans.Send(ctx, "runs that did not start", spans); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept.Unsent = r.kept.Unsent[len(unsent):]
	return r.kept.save()
}
