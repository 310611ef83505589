package scheduletelemetry_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/proto"
	clocktest "k8s.io/utils/clock/testing"

	localsqs "github.com/emr-observatory/emr-observatory/localcloud/sqs"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/status/scheduletelemetry"
)

const (
	queueURL = "https://sqs.us-east-1.amazonaws.com/123456789012/lost"
	queueARN = "arn:aws:sqs:us-east-1:123456789012:lost"
)

// begin is when the queue is read first: now, because old runs are forgotten.
var begin = time.Now().UTC().Truncate(time.Second)

func at(day, hour int) time.Time { return time.Date(2027, 1, day, hour, 0, 0, 0, time.UTC) }

// world is the local cloud's SQS behind its API, and a collector that keeps the last counts.
type world struct {
	queue  *localsqs.Service
	clock  *clocktest.FakePassiveClock
	client *sqs.Client
	config status.Config

	mu     sync.Mutex
	counts map[string]int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{clock: clocktest.NewFakePassiveClock(begin), counts: map[string]int64{}}
	w.queue = &localsqs.Service{Path: filepath.Join(t.TempDir(), "queues.json"), Clock: w.clock}
	require.NoError(t, w.queue.Open())
	require.NoError(t, w.queue.Put(localsqs.Queue{URL: queueURL, ARN: queueARN, Retention: 14 * 24 * time.Hour, Visibility: 30 * time.Second}))
	api := httptest.NewServer(w.queue)
	t.Cleanup(api.Close)
	w.client = sqs.New(sqs.Options{Region: "us-east-1", BaseEndpoint: aws.String(api.URL),
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")})
	collector := httptest.NewServer(http.HandlerFunc(w.collect))
	t.Cleanup(collector.Close)
	w.config = status.Config{
		LostRuns: queueURL, Schedules: []status.ScheduleConfig{{Key: "nightly"}, {Key: "weekly"}},
		Endpoints: map[platform.Workload]status.Endpoint{platform.WorkloadCollector: {URL: collector.URL}},
	}
	return w
}

func (w *world) collect(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var in collectorpb.ExportMetricsServiceRequest
	if err := proto.Unmarshal(body, &in); err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, of := range in.ResourceMetrics {
		for _, scope := range of.ScopeMetrics {
			for _, m := range scope.Metrics {
				for _, p := range m.GetSum().DataPoints {
					w.counts[m.Name+" "+p.Attributes[0].Value.GetStringValue()] = p.GetAsInt()
				}
			}
		}
	}
}

func (w *world) lose(t *testing.T, schedule, at, code, message string) {
	t.Helper()
	require.NoError(t, w.queue.Send(queueARN, "{}", map[string]string{
		"SCHEDULE_ARN": "arn:aws:scheduler:us-east-1:123456789012:schedule/group/" + schedule, "SCHEDULED_TIME": at, "ERROR_CODE": code,
		"ERROR_MESSAGE": message,
	}))
}

func (w *world) recorder(t *testing.T, queue scheduletelemetry.Queue, folder string) *scheduletelemetry.Recorder {
	t.Helper()
	r, err := scheduletelemetry.New(t.Context(), w.config, queue, folder, true)
	require.NoError(t, err)
	return r
}

func TestRunsThatDidNotStart(t *testing.T) {
	w, folder := newWorld(t), t.TempDir()
	w.lose(t, "nightly", "2027-01-01T02:00:00Z", "ValidationException", "Cluster id 'j-1' is not valid.\n\x1b[31m")
	w.lose(t, "weekly", "2027-01-01T06:00:00Z", "ThrottlingException", strings.Repeat("x", 1000))
	for range 25 { // more than a batch
		w.lose(t, "nightly", "2027-01-01T03:00:00Z", "ValidationException", "the same again")
	}
	r := w.recorder(t, w.client, folder)
	r.Round(t.Context(), w.clock.Now())
	require.Empty(t, r.Problems())
	lost := r.Lost()
	require.Len(t, lost, 3, "each run once")
	require.Equal(t, status.LostRun{Schedule: "nightly", Scheduled: at(1, 2), Told: begin,
		Reason: "ValidationException: Cluster id 'j-1' is not valid. [31m"}, lost[0])
	require.LessOrEqual(t, len([]rune(lost[1].Reason)), 301)
	require.Equal(t, map[string]int64{platform.EmittedLostRuns + " nightly": 2, platform.EmittedLostRuns + " weekly": 1}, w.counts)

	w.clock.SetTime(w.clock.Now().Add(time.Hour)) // what was not deleted would be visible again
	again := w.recorder(t, w.client, folder)
	require.Equal(t, lost, again.Lost(), "a new process has them")
	again.Round(t.Context(), w.clock.Now())
	require.Equal(t, lost, again.Lost())
	require.EqualValues(t, 2, w.counts[platform.EmittedLostRuns+" nightly"])

	w.lose(t, "nightly", "soon", "", "") // no time
	for range 3 {
		again.Round(t.Context(), w.clock.Now())
	}
	require.Len(t, again.Lost(), 4, "counts once although its time cannot be read")
	require.Equal(t, "EventBridge gives no reason", again.Lost()[3].Reason)
}

// One schedule that fails each minute does not push out the run of another, and what is old goes without a new one.
func TestRunsAreKeptForEachSchedule(t *testing.T) {
	w := newWorld(t)
	r := w.recorder(t, w.client, t.TempDir())
	w.lose(t, "weekly", "2027-01-01T06:00:00Z", "ValidationException", "ended")
	for minute := range 80 {
		w.lose(t, "nightly", begin.Add(time.Duration(minute)*time.Minute).Format(time.RFC3339), "ValidationException", "ended")
	}
	r.Round(t.Context(), time.Now())
	count := map[string]int{}
	for _, l := range r.Lost() {
		count[l.Schedule]++
	}
	require.Equal(t, map[string]int{"weekly": 1, "nightly": 50}, count)
	require.EqualValues(t, 80, w.counts[platform.EmittedLostRuns+" nightly"])

	old := w.recorder(t, w.client, t.TempDir())
	w.lose(t, "weekly", "2027-01-01T06:00:00Z", "ValidationException", "ended")
	old.Round(t.Context(), time.Now().AddDate(0, 0, -15))
	require.Empty(t, old.Lost())
}

// All of a full queue is told in one round, and what came last is on the page.
func TestAFullQueue(t *testing.T) {
	w := newWorld(t)
	const many = 500
	for minute := range many {
		w.lose(t, "nightly", begin.Add(time.Duration(minute)*time.Minute).Format(time.RFC3339), "ThrottlingException", "Rate exceeded")
	}
	w.lose(t, "weekly", "2027-01-01T06:00:00Z", "ValidationException", "ended")
	r := w.recorder(t, w.client, t.TempDir())
	r.Round(t.Context(), w.clock.Now())
	require.Empty(t, r.Problems())
	require.EqualValues(t, many, w.counts[platform.EmittedLostRuns+" nightly"])
	require.EqualValues(t, 1, w.counts[platform.EmittedLostRuns+" weekly"])
	left, err := w.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(queueURL)})
	require.NoError(t, err)
	require.Empty(t, left.Messages)
}

// failing fails to delete.
type failing struct{ scheduletelemetry.Queue }

func (failing) DeleteMessage(context.Context, *sqs.DeleteMessageInput, ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error) {
	return nil, errors.New("access denied")
}

// A message that cannot be deleted comes again, and counts once.
func TestMessagesThatComeAgain(t *testing.T) {
	w := newWorld(t)
	w.lose(t, "nightly", "2027-01-01T02:00:00Z", "ValidationException", "ended")
	r := w.recorder(t, failing{w.client}, t.TempDir())
	for range 3 {
		r.Round(t.Context(), w.clock.Now())
		require.Len(t, r.Problems(), 1)
		require.Contains(t, r.Problems()[0], "delete a run that did not start from its queue: access denied")
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
	}
	require.Len(t, r.Lost(), 1)
	require.EqualValues(t, 1, w.counts[platform.EmittedLostRuns+" nightly"])
}

func TestAQueueThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.queue.Delete(queueURL))
	r := w.recorder(t, w.client, "")
	r.Round(t.Context(), w.clock.Now())
	require.Len(t, r.Problems(), 1)
	require.Contains(t, r.Problems()[0], "read the queue of runs that did not start")
}
