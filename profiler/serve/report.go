// Package serve repeats a run of the profiler at an interval, and serves how the last one
// went: for people through the status page, for VictoriaMetrics as metrics.
//
// It knows neither clusters nor tables: what a run does is package run's matter. So the
// status server imports it without the profiler.
package serve

import "time"

// Path is where a State is served, as JSON.
const Path = "/last"

// Result is how a run ended.
type Result string

// Results.
const (
	Complete   Result = "complete"   // all is in the tables, now or before
	Incomplete Result = "incomplete" // something could not be read; the next run tries again
	Failed     Result = "failed"     // nothing could be discovered, or the tables not written
)

// Results lists them.
func Results() []Result { return []Result{Complete, Incomplete, Failed} }

// State is what a server knows of its runs.
type State struct {
	Running bool       `json:"running"`
	Next    *time.Time `json:"next,omitempty"`    // start of the next run; none while one is under way
	Last    *Report    `json:"last,omitempty"`    // the run that ended last
	Success *time.Time `json:"success,omitempty"` // end of the last run that did not fail
}

// Report is what a run did.
type Report struct {
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	Result  Result    `json:"result"`
	Error   string    `json:"error,omitempty"` // why it failed

	ClustersFound       int `json:"clustersFound"`
	ClustersCurrent     int `json:"clustersCurrent"` // their history was complete before
	ClustersRead        int `json:"clustersRead"`
	Applications        int `json:"applications"` // attempts that were read
	ApplicationsCurrent int `json:"applicationsCurrent"`
	Objects             int `json:"objects"` // written

	// Incomplete lists the first things that could not be read, IncompleteCount says how
	// many there are.
	Incomplete      []Missing `json:"incomplete"`
	IncompleteCount int       `json:"incompleteCount"`
}

// Missing is something that could not be read, and why.
type Missing struct {
	Cluster     string `json:"cluster,omitempty"`
	Application string `json:"application,omitempty"`
	Reason      string `json:"reason"`
}

// MaxMissing is how many of them a report lists.
const MaxMissing = 50

// Add adds something that could not be read.
func (r *Report) Add(m Missing) {
	r.IncompleteCount++
	if len(r.Incomplete) < MaxMissing {
		r.Incomplete = append(r.Incomplete, m)
	}
}

// Took is how long the run took.
func (r *Report) Took() time.Duration { return r.Ended.Sub(r.Started) }
