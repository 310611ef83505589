// Package source finds the clusters and applications whose history is read: in EMR's API
// behind persistent and on-cluster UIs, behind the URL of a history server, or in a
// folder or bucket of event logs.
//
// It reads no history itself beyond what names an application (package fold does), and
// keeps nothing but the ids of persistent UIs.
package source

import (
	"context"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Source is where clusters are found.
type Source interface {
	// Discover lists clusters, the newest first.
	Discover(ctx context.Context) ([]Listed, error)
	// Estimate returns how long it takes at least to open so many clusters.
	Estimate(clusters int) time.Duration
	// Open reads what is known of a cluster, and finds its applications. What it could
	// not read is in the cluster's Outcomes; an error means that nothing could be.
	Open(ctx context.Context, listed Listed) (*Cluster, error)
}

// Listed is a cluster as discovery shows it.
type Listed struct {
	ID      tables.Cluster
	Created time.Time // zero if unknown
	Ended   time.Time // zero while it runs
	// Fingerprint changes when a cluster that has ended has to be opened again.
	Fingerprint string
	// Settled clusters get no more applications, steps or logs.
	Settled bool

	arn   string
	logs  []Application // of event logs
	notes []string
}

// Cluster is an opened cluster.
type Cluster struct {
	Summary      tables.ClusterSummary // without totals and outcome
	Steps        []tables.Step
	Costs        []tables.Cost
	Applications []Application // the newest first
	Outcomes     []Outcome
	// Notes are worth a line, though nothing failed.
	Notes []string
}

// Outcome says how an endpoint was read.
type Outcome struct {
	Endpoint string // a call of EMR's API, or what was read
	Err      error  // nil if all was read
}

// Application is an attempt of an application that was found: Log, or else History with
// App and Attempt, has its history.
type Application struct {
	ID    tables.Attempt
	Start time.Time // zero if unknown
	// Fingerprint changes when there is more to read.
	Fingerprint string

	Log     *eventlog.Log
	History *history.Client
	App     history.Application
	Attempt history.Attempt

	sparkContext string // Databricks' id

	// Err is why a log could not be attributed to an application; ID is then empty.
	Err error
}

// StepOf returns the step that started an application, "" if no step is known to have.
func (c *Cluster) StepOf(application string) string {
	for _, step := range c.Steps {
		for _, id := range step.ApplicationIDs {
			if id == application {
				return step.StepID
			}
		}
	}
	return ""
}

// report adds an outcome.
func (c *Cluster) report(endpoint string, err error) {
	c.Outcomes = append(c.Outcomes, Outcome{Endpoint: endpoint, Err: err})
}

// Obstacle is a precondition of a history that a cluster does not meet.
type Obstacle struct {
	Reason, Remedy string
	Passing        bool // it may be gone at another time
}

// Error has the reason and the remedy.
func (o *Obstacle) Error() string { return o.Reason + "; " + o.Remedy }
