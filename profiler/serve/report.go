// Package serve repeats a run of the profiler at an interval, and reports the last one: to
// people on the status page, to VictoriaMetrics as metrics.
//
// It knows neither clusters nor tables: package run does the work. So the status server can
// import it without the profiler.
package serve

import "time"

// Path is where a State is served, as JSON.
const Path = "/last"

// ApplicationsPath is below which the pages of applications are served, as JSON of package
// report. An application that the tables do not have is not found (404).
const ApplicationsPath = "/applications"

// Result is how a run ended.
type Result string

// Results.
const (
	Complete   Result = "complete"   // everything is in the tables
	Incomplete Result = "incomplete" // something could not be read; the next run retries it
	Failed     Result = "failed"     // discovery failed, or the tables could not be written
)

// Results lists them.
func Results() []Result { return []Result{Complete, Incomplete, Failed} }

// State is the state of a server and its runs.
type State struct {
	Running bool       `json:"running"`
	Next    *time.Time `json:"next,omitempty"`    // start of the next run; nil during a run
	Last    *Report    `json:"last,omitempty"`    // the last run that ended
	Success *time.Time `json:"success,omitempty"` // end of the last run that did not fail
	Woken   []Woken    `json:"woken,omitempty"`   // clusters that are read before the next run
}

// Report is the outcome of a run.
type Report struct {
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	Result  Result    `json:"result"`
	Error   string    `json:"error,omitempty"` // why it failed

	ClustersFound       int `json:"clustersFound"`
	ClustersCurrent     int `json:"clustersCurrent"` // already complete in the tables
	ClustersRead        int `json:"clustersRead"`
	Applications        int `json:"applications"` // attempts read
	ApplicationsCurrent int `json:"applicationsCurrent"`
	Objects             int `json:"objects"` // written

	// Incomplete lists the first MaxMissing of IncompleteCount things that could not be read.
	Incomplete      []Missing `json:"incomplete"`
	IncompleteCount int       `json:"incompleteCount"`
}

// Missing is something that could not be read, and why.
type Missing struct {
	Cluster     string `json:"cluster,omitempty"`
	Application string `json:"application,omitempty"`
	Reason      string `json:"reason"`
}

// MaxMissing is how many missing things a report lists.
const MaxMissing = 50

// Add adds something that could not be read.
func (r *Report) Add(m Missing) {
	r.IncompleteCount++
	if len(r.Incomplete) < MaxMissing {
		r.Incomplete = append(r.Incomplete, m)
	}
}

// Took returns how long the run took.
func (r *Report) Took() time.Duration { return r.Ended.Sub(r.Started) }
