// Package report is the page of one application: what it found, where the time went, what to
// change. It has the model and renders it as one HTML file without scripts, which asks no
// address for anything.
//
// It reads nothing. Package profiler/pages makes the model from the tables, and package status
// from the metrics until the tables have the application.
package report

import (
	"fmt"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

// Application is what the page shows.
type Application struct {
	ID      string `json:"applicationId"`
	Attempt string `json:"attempt,omitempty"`
	Name    string `json:"name"`
	Cluster string `json:"cluster"`
	User    string `json:"user"`
	Spark   string `json:"sparkVersion"`
	Step    string `json:"step,omitempty"` // of EMR
	Queue   string `json:"queue,omitempty"`
	TraceID string `json:"traceId,omitempty"`
	// Airflow is the task that started it; nil if none is known.
	Airflow  *AirflowTask `json:"airflow,omitempty"`
	MaxCores int64        `json:"maxCores"`

	Started time.Time `json:"started"`
	// Ended is zero if the application has not said that it ended.
	Ended time.Time `json:"ended"`
	// Since is when that begins which the page is about, if that is later than its start: of a
	// stream, which never ends, the last day is judged.
	Since   time.Time     `json:"since,omitzero"`
	Wall    time.Duration `json:"wallNanoseconds"` // from Since on, if that is set
	Outcome string        `json:"outcome"`         // in words
	Failed  bool          `json:"failed"`
	Cause   string        `json:"cause,omitempty"` // of a failure
	// Live is of what the metrics say, which have neither jobs nor stages nor executors.
	Live bool `json:"live"`

	Phases      []Phase `json:"phases"` // those that took time
	Approximate bool    `json:"approximate"`

	Findings []Finding `json:"findings"` // the most costly first
	Clean    []string  `json:"clean"`    // titles of rules that found nothing
	// NotChecked are rules that could not be judged.
	NotChecked []NotChecked `json:"notChecked"`
	Missing    []string     `json:"missing"` // parts of the history that could not be read

	CoreHours     float64 `json:"coreHours"`     // that executors had
	IdleCoreHours float64 `json:"idleCoreHours"` // of them without a task

	// Spent is nil if it is unknown.
	Spent *Spent `json:"spent,omitempty"`

	Jobs []Span `json:"jobs"` // in the order of their starts
	// Sessions are those of a Spark Connect server, in the order of their first operations.
	Sessions  []Session  `json:"sessions,omitempty"`
	Stages    []Stage    `json:"stages"`    // the most costly first
	Executors []Executor `json:"executors"` // in the order of their starts
	Runs      []Run      `json:"runs"`      // of the same name, the latest last, with this one
	// Moments are what its metrics say over its time, Every so often; none if they have expired.
	Moments []Moment      `json:"moments,omitempty"`
	Every   time.Duration `json:"everyNanoseconds,omitempty"`
	// Omitted counts what the lists leave out.
	Omitted Omitted `json:"omitted"`

	// Links lead to what else is known of it, where the reader gets there.
	Links []Link `json:"links,omitempty"`
}

// AirflowTask is one try of a task in a run of a DAG.
type AirflowTask struct {
	DAG  string `json:"dagId"`
	Task string `json:"taskId"`
	Run  string `json:"runId"`
	Try  int64  `json:"tryNumber,omitempty"` // 0 if it is not known
}

// NewAirflowTask returns the task that an application's properties name; nil if they name no DAG.
func NewAirflowTask(dag, task, run string, try int64) *AirflowTask {
	if dag == "" {
		return nil
	}
	return &AirflowTask{DAG: dag, Task: task, Run: run, Try: try}
}

// Spent is the application's part of what the nodes of its cluster cost.
type Spent struct {
	USD       float64 `json:"usd"`
	SpotUSD   float64 `json:"spotUsd"`   // of it, for spot instances, at the usual discount
	PriceDate string  `json:"priceDate"` // of the list prices, YYYY-MM-DD
}

// String writes the cost with its assumptions.
func (s Spent) String() string {
	text := "Its share of the nodes cost about " + Dollars(s.USD) + " at the list prices of " + s.PriceDate
	if s.SpotUSD > 0 {
		text += ", " + Dollars(s.SpotUSD) + " of it for spot instances at their usual discount"
	}
	return text + "."
}

// Dollars writes an amount in US dollars: with cents or, of less than a dime, with parts of them.
func Dollars(usd float64) string {
	const dime, least = 0.1, 0.0001
	switch {
	case usd <= 0:
		return "$0"
	case usd < least:
		return "less than $0.0001"
	case usd < dime:
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// Link leads to another page.
type Link struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// Session is what a client of a Spark Connect server did.
type Session struct {
	ID         string `json:"id"`
	User       string `json:"user"`
	Operations []Span `json:"operations"` // those among the longest of all sessions, in the order of their starts
}

// Omitted counts what is not in the lists, of which only the most costly are shown.
type Omitted struct {
	Jobs       int `json:"jobs,omitempty"`
	Operations int `json:"operations,omitempty"`
	Stages     int `json:"stages,omitempty"`
	Executors  int `json:"executors,omitempty"`
}

// Phase is a part of the wall clock.
type Phase struct {
	Phase platform.Phase `json:"phase"`
	Took  time.Duration  `json:"nanoseconds"`
	Share float64        `json:"share"` // 0 to 1
}

// Moment is what an application did at a time.
type Moment struct {
	At        time.Time          `json:"at"`
	Phase     platform.Phase     `json:"phase,omitempty"`     // "" if it is not known
	Executors map[string]float64 `json:"executors,omitempty"` // by platform.ExecutorStates
}

// Finding is what a rule found.
type Finding struct {
	Rule     rules.ID       `json:"rule"`
	Title    string         `json:"title"`
	Severity rules.Severity `json:"severity"`
	Summary  string         `json:"summary"`
	Advice   string         `json:"advice"`
	// Impact is the most time that it may have saved; nil if that is not known.
	Impact *time.Duration `json:"impactNanoseconds,omitempty"`
	Share  float64        `json:"share,omitempty"` // of the wall clock
	// Settings are what cures it, with what is set now.
	Settings []Setting    `json:"settings,omitempty"`
	Evidence []string     `json:"evidence"`
	Recipe   rules.Recipe `json:"recipe,omitempty"`
}

// Setting is a property as it should be and as it is.
type Setting struct {
	Property string `json:"property"`
	Value    string `json:"value"`
	Now      string `json:"now,omitempty"` // "" if it is not set
}

// NotChecked is a rule that could not be judged.
type NotChecked struct {
	Title string `json:"title"`
	Why   string `json:"why"`
}

// Span is a time of something. End is zero if it is not known.
type Span struct {
	Label  string    `json:"label"`
	Start  time.Time `json:"start"`
	End    time.Time `json:"end"`
	Failed bool      `json:"failed,omitempty"`
}

// Stage is an attempt of a stage with what its tasks did, all together.
type Stage struct {
	Span

	ID         string        `json:"id"` // with the attempt, if it is not the first
	Tasks      int64         `json:"tasks"`
	Run        time.Duration `json:"runNanoseconds"`
	GC         float64       `json:"gcShare"` // of the run time
	Spilled    int64         `json:"spilledBytes"`
	Read       int64         `json:"readBytes"` // input and shuffle
	Written    int64         `json:"writtenBytes"`
	Longest    time.Duration `json:"longestTaskNanoseconds"` // 0 if it is not known
	MedianTask time.Duration `json:"medianTaskNanoseconds"`
}

// Executor is the life of an executor.
type Executor struct {
	Span

	Cores  int64  `json:"cores"`
	Class  string `json:"removeClass,omitempty"` // why it was removed, in one word
	Reason string `json:"removeReason,omitempty"`
}

// Run is a run of the same name.
type Run struct {
	ID      string        `json:"applicationId"`
	Started time.Time     `json:"started"`
	Wall    time.Duration `json:"wallNanoseconds"`
	Outcome string        `json:"outcome"`
	Failed  bool          `json:"failed"`
	This    bool          `json:"this"`
}

// NextSteps is how many findings the page proposes to follow first.
const NextSteps = 3

// Next returns the findings to follow first: those that say what to change.
func (a Application) Next() (all []Finding) {
	for _, f := range a.Findings {
		if f.Advice != "" && len(all) < NextSteps {
			all = append(all, f)
		}
	}
	return all
}

// Verdict says in one sentence how the application went, and what cost most.
func (a Application) Verdict() string {
	text := a.Outcome
	switch {
	case !a.Since.IsZero():
		text += "; of the last " + duration(a.Wall)
	case a.Wall > 0:
		text += " after " + duration(a.Wall)
	}
	if a.Failed && a.Cause != "" {
		return text + ": " + a.Cause
	}
	return text + ". " + a.Cost()
}

// Begin is when that begins which the page is about.
func (a Application) Begin() time.Time {
	if a.Since.IsZero() {
		return a.Started
	}
	return a.Since
}

// Cost says in one sentence what cost most.
func (a Application) Cost() string {
	if len(a.Findings) == 0 {
		return "Nothing was beyond a rule's limit."
	}
	f := a.Findings[0]
	if f.Impact == nil {
		return f.Title + "."
	}
	return f.Title + " cost up to " + duration(*f.Impact) + " (" + rules.Format(f.Share, rules.Share) + ")."
}

func duration(d time.Duration) string {
	return rules.Format(float64(d.Milliseconds()), rules.Milliseconds)
}
