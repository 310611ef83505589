package status

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

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
	read, err := s.phases(r.Context(), step)
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
func (s Source) readPhases(ctx context.Context, step Step) (Status, error) {
	steps := []Step{step}
	if err := s.AddApplications(ctx, steps); err != nil {
		return Status{}, fmt.Errorf("read the applications of step %s: %w", step.ID, err)
	}
	if err := s.addPhases(ctx, steps); err != nil {
		return Status{}, fmt.Errorf("read the phases of step %s: %w", step.ID, err)
	}
	read := Status{Control: s.Config.Control, Steps: steps}
	if grafana, configured := s.Config.Endpoints[platform.WorkloadGrafana]; configured && len(steps[0].Phases) > 0 {
		read.Workloads = []Workload{s.probe(ctx, platform.WorkloadGrafana, grafana)}
	}
	return read, nil
}
