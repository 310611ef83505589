package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/phases"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/report"
	"github.com/emr-observatory/emr-observatory/verdict"
)

// ApplicationPhases says where the wall clock of a step's application went, so far or
// until its end.
type ApplicationPhases struct {
	ApplicationID string                     `json:"applicationId"`
	Line          string                     `json:"line"`            // all of it in one line
	Cause         string                     `json:"cause,omitempty"` // why it failed, in one line, if the step is its alone
	Seconds       map[platform.Phase]float64 `json:"seconds"`
	Ended         bool                       `json:"ended"`                 // its driver has said so: the phases are final
	Approximate   bool                       `json:"approximate,omitempty"` // events are missing, or the driver was killed
	Page          string                     `json:"page,omitempty"`        // URL of its page, if the client reaches it
	Timeline      string                     `json:"timeline,omitempty"`    // URL of its dashboard, or else of its page, likewise
	Verdict       *verdict.Verdict           `json:"verdict,omitempty"`     // what the rules find, by its metrics
}

// String is the line of the phases with the clause of the verdict, after the cause of a failure.
func (p ApplicationPhases) String() string {
	text := p.Line
	if p.Cause != "" {
		text = "failed: " + p.Cause + "; " + text
	}
	if p.Verdict != nil {
		text += "; " + p.Verdict.Text
	}
	return text
}

// sumTolerance is how much the phases may differ from the wall clock that they add up
// to, in seconds. Gauges of one export agree to the millisecond; a reading that has one
// of them from another export does not.
const sumTolerance = 0.02

// driver identifies what sends the phases of an application. An application that YARN
// starts again on another host has two.
type driver struct{ application, cluster, host string }

// reading is what one driver has sent last.
type reading struct {
	at     float64 // Unix seconds
	values map[string]float64
	step   string // which its metrics name; "" = none

	name, cluster, spark string // of the application
	airflow              *report.AirflowTask
}

// addReported adds the applications whose drivers name their step to steps whose
// applications are not known otherwise.
func (s Source) addReported(ctx context.Context, steps []Step) error {
	var ids []string
	since := time.Now()
	for _, step := range steps {
		if step.Started != nil && len(step.ApplicationIDs) == 0 && platform.IsStepID(step.ID) {
			ids, since = append(ids, step.ID), earlier(since, *step.Started)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := s.query(ctx, fmt.Sprintf("last_over_time(%s{%s=~%q}[%s])", platform.MetricApplicationInfo,
		platform.ApplicationInfoStep, strings.Join(ids, "|"), seconds(time.Since(since)+stepMargin)))
	if err != nil {
		return err
	}
	for i, step := range steps {
		for _, info := range found {
			id := info.label(platform.SparkAppID)
			if info.Metric[platform.ApplicationInfoStep] == step.ID && platform.IsYARNApplicationID(id) &&
				!slices.Contains(steps[i].ApplicationIDs, id) {
				steps[i].ApplicationIDs = append(steps[i].ApplicationIDs, id)
			}
		}
		slices.Sort(steps[i].ApplicationIDs[len(step.ApplicationIDs):]) // by number, so by time
	}
	return nil
}

// AddPhases adds the phases of the steps' applications, and what the rules find in them. It
// leaves an application out whose driver sends no phases, or not all of them.
func (s Source) AddPhases(ctx context.Context, steps []Step) error {
	if err := s.addReported(ctx, steps); err != nil {
		return err
	}
	var ids []string
	since := time.Now()
	for _, step := range steps {
		for _, id := range step.ApplicationIDs {
			if step.Started != nil && platform.IsYARNApplicationID(id) && len(ids) < maxApplications {
				ids, since = append(ids, id), earlier(since, *step.Started)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := s.query(ctx, phasesQuery(ids, time.Since(since)+stepMargin))
	if err != nil {
		return err
	}
	readings, err := readingsOf(found)
	if err != nil {
		return err
	}
	for i := range steps {
		step := &steps[i]
		for _, id := range step.ApplicationIDs {
			if r, sent := latest(readings, id); sent && (r.step == "" || r.step == step.ID) {
				step.Phases = append(step.Phases, r.phases(id, step.Ended != nil)...)
			}
		}
		if step.State == types.StepStateFailed && len(step.Phases) == 1 {
			step.Phases[0].Cause = strings.Join(strings.Fields(cmp.Or(step.Cause, step.Reason)), " ")
		}
	}
	return s.addVerdicts(ctx, steps, time.Since(since)+stepMargin)
}

// sampleTime names the time of a driver's last sample among its metrics.
const sampleTime = "at"

// phasesQuery asks for the last values of applications' phases within a window, and for
// the time of the last. A series is not found at its end's distance from now otherwise:
// VictoriaMetrics ends it after five minutes.
func phasesQuery(applications []string, window time.Duration) string {
	names := []string{
		platform.MetricSparkWall, platform.MetricPhaseApproximate, platform.MetricApplicationEnded, platform.MetricApplicationInfo,
	}
	for _, phase := range platform.Phases() {
		names = append(names, phase.Metric())
	}
	selector := func(name string) string {
		return fmt.Sprintf("{__name__=~%q,%s=~%q}[%s]", name, platform.SparkAppID.Metric(), strings.Join(applications, "|"), seconds(window))
	}
	return fmt.Sprintf(`union(last_over_time(%s) keep_metric_names, label_set(tlast_over_time(%s), "__name__", %q))`,
		selector(strings.Join(names, "|")), selector(platform.MetricSparkWall), sampleTime)
}

// readingsOf sorts samples by driver.
func readingsOf(samples []sample) (map[driver]*reading, error) {
	readings := map[driver]*reading{}
	for _, found := range samples {
		value, err := found.number()
		if err != nil {
			return nil, err
		}
		from := driver{found.label(platform.SparkAppID), found.label(platform.Cluster), found.label(platform.HostName)}
		if readings[from] == nil {
			readings[from] = &reading{values: map[string]float64{}, cluster: from.cluster}
		}
		switch r := readings[from]; found.Metric["__name__"] {
		case sampleTime:
			r.at = value
		case platform.MetricApplicationInfo:
			r.step, r.name = found.Metric[platform.ApplicationInfoStep], found.Metric[platform.ApplicationInfoName]
			r.spark = found.Metric[platform.ApplicationInfoSpark]
			try, _ := strconv.ParseInt(found.Metric[platform.AirflowTry], 10, 64) // 0 without one
			r.airflow = report.NewAirflowTask(found.Metric[platform.AirflowDAG], found.Metric[platform.AirflowTask],
				found.Metric[platform.AirflowRun], try)
		default:
			r.values[found.Metric["__name__"]] = value
		}
	}
	return readings, nil
}

// latest returns the reading of the driver that has sent an application's phases last.
func latest(readings map[driver]*reading, id string) (last reading, found bool) {
	for from, r := range readings {
		if from.application == id && (!found || r.at > last.at) {
			last, found = *r, true
		}
	}
	return last, found
}

// phases returns the phases of a reading; none if they do not add up. Those of a driver
// that was killed end with its last export: some seconds are missing.
func (r reading) phases(id string, stepEnded bool) []ApplicationPhases {
	wall, known := r.values[platform.MetricSparkWall]
	approximate, sent := r.values[platform.MetricPhaseApproximate]
	ended := r.values[platform.MetricApplicationEnded] != 0
	out := ApplicationPhases{
		ApplicationID: id, Seconds: map[platform.Phase]float64{}, Ended: ended, Approximate: approximate != 0 || stepEnded && !ended,
	}
	sum := 0.0
	for _, phase := range platform.Phases() {
		if value, sent := r.values[phase.Metric()]; sent {
			out.Seconds[phase] = value
			sum += value
		}
	}
	if !known || !sent || wall <= 0 || math.Abs(sum-wall) > sumTolerance {
		return nil
	}
	out.Line = phases.Line(out.Seconds, out.Approximate)
	return []ApplicationPhases{out}
}

// phasesPath is where the phases of one step are served. A client that has followed a
// step knows more of it than the list of steps, which is short, and seconds old.
const phasesPath = Path + "/phases"

// Parameters of phasesPath. The last may be repeated; times are RFC 3339.
const (
	parameterCluster     = "cluster"
	parameterStep        = "step"
	parameterStarted     = "started"
	parameterEnded       = "ended" // not given for a step that runs
	parameterApplication = "application"
)

// FetchPhases reads the phases of a step's applications from a server, given as for
// Fetch. It needs the step's cluster, ID and start; the server finds applications that
// the step does not name in its log. Those without phases are left out.
func FetchPhases(ctx context.Context, address string, access Access, step Step) ([]ApplicationPhases, error) {
	if step.Started == nil {
		return nil, fmt.Errorf("fetch phases: step %s has not started", step.ID)
	}
	query := url.Values{
		parameterCluster: {step.Cluster}, parameterStep: {step.ID}, parameterStarted: {step.Started.UTC().Format(time.RFC3339Nano)},
		parameterApplication: step.ApplicationIDs,
	}
	if step.Ended != nil {
		query.Set(parameterEnded, step.Ended.UTC().Format(time.RFC3339Nano))
	}
	var found []ApplicationPhases
	if _, err := fetch(ctx, address, phasesPath[len(Path):]+"?"+query.Encode(), access, &found); err != nil {
		return nil, fmt.Errorf("fetch phases: %w", err)
	}
	return found, nil
}

// servePhases answers with the phases of the step that a request describes.
func (s server) servePhases(w http.ResponseWriter, r *http.Request) {
	step, err := stepOf(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	read, err := s.phases(r.Context(), step, absentFor(r))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	writeJSON(w, http.StatusOK, append([]ApplicationPhases{}, s.page(r, read).Steps[0].Phases...))
}

// stepOf reads a step from the parameters of phasesPath. It reports every violation.
func stepOf(query url.Values) (Step, error) {
	step := Step{Cluster: query.Get(parameterCluster), ID: query.Get(parameterStep), ApplicationIDs: query[parameterApplication]}
	var violations []error
	if !platform.IsClusterID(step.Cluster) {
		violations = append(violations, fmt.Errorf("%s: %q: must be an EMR cluster id, j-…", parameterCluster, step.Cluster))
	}
	if !platform.IsStepID(step.ID) {
		violations = append(violations, fmt.Errorf("%s: %q: must be an EMR step id, s-…", parameterStep, step.ID))
	}
	var err error
	step.Started, err = timeOf(query, parameterStarted)
	violations = append(violations, err)
	if query.Has(parameterEnded) {
		step.Ended, err = timeOf(query, parameterEnded)
		violations = append(violations, err)
	}
	return step, errors.Join(violations...)
}

func timeOf(query url.Values, parameter string) (*time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, query.Get(parameter))
	if err != nil {
		return nil, fmt.Errorf("%s: %q: must be a time such as 2006-01-02T15:04:05Z", parameter, query.Get(parameter))
	}
	return &at, nil
}

// readPhases returns a Status with the phases of one step. If it has any, the Status also
// says whether Grafana, which shows them, is ready.
func (s Source) readPhases(ctx context.Context, step Step, absent map[platform.Workload]string) (Status, error) {
	steps := []Step{step}
	if err := s.AddApplications(ctx, steps); err != nil {
		return Status{}, fmt.Errorf("read the applications of step %s: %w", step.ID, err)
	}
	if err := s.AddPhases(ctx, steps); err != nil {
		return Status{}, fmt.Errorf("read the phases of step %s: %w", step.ID, err)
	}
	read := Status{Control: s.Config.Control, Clusters: s.known(step.Cluster), Steps: steps}
	if len(steps[0].Phases) > 0 {
		read.Workloads = s.readyGrafana(ctx, absent)
	}
	return read, nil
}
