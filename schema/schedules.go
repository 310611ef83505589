package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schedule"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Limits of EventBridge Scheduler (Scheduler API, RetryPolicy; User Guide, "Quotas"), and the
// number of schedules that a page still shows.
const (
	maxSchedules       = 50
	maxScheduleRetries = 185
	maxScheduleMinutes = 24 * 60
	maxScheduleInput   = 256 << 10 // bytes of a target's input
)

// Schedule starts steps by the clock.
type Schedule struct {
	Expression    string `json:"expression" rule:"scheduleExpression"`
	Timezone      string `json:"timezone" rule:"timezone"`
	Start         string `json:"start" rule:"scheduleTime"`
	End           string `json:"end" rule:"scheduleTime"`
	Enabled       bool   `json:"enabled"`
	Cluster       string `json:"cluster" rule:"scheduleCluster"`
	Steps         []Step `json:"steps" rule:"scheduleSteps"`
	Retries       int    `json:"retries" rule:"scheduleRetries"`
	MaxAgeMinutes int    `json:"maxAgeMinutes" rule:"scheduleAge"`
}

// Help describes the keys, for documents.
func (Schedule) Help() map[string]string {
	return map[string]string{
		"expression": "When it starts: cron(minutes hours day-of-month month day-of-week year) or rate(value unit), as EventBridge Scheduler " +
			"reads them.",
		"timezone": "Time zone of a cron expression. A local time that a clock change skips is not run; one that it repeats is run once.",
		"start":    "Time before which nothing starts; of cron only. A rate starts with the update that last changed the schedule.",
		"end":      "Time after which nothing starts. Empty: never.",
		"enabled":  "False: nothing starts until it is true again.",
		"cluster":  "Key of the stack's cluster that runs the steps. An edit that replaces the cluster changes the schedule with it.",
		"steps": "The steps, as in clusters.*.steps. Each run adds them with the schedule's key and time in their names, so that a run that " +
			"EventBridge delivers twice is recognised.",
		"retries":       "How often a call that EMR refuses for a passing reason is repeated.",
		"maxAgeMinutes": "For how long it is repeated. After that the run is lost, and reported.",
	}
}

// SetDefaults repeats calls for an hour: EMR's throttling ends within minutes, and a run that is
// later than that should not surprise its readers.
func (s *Schedule) SetDefaults() {
	*s = Schedule{Timezone: "UTC", Enabled: true, Steps: []Step{}, Retries: 10, MaxAgeMinutes: 60}
}

func scheduleRules() map[string]Rule {
	return map[string]Rule{
		"schedules": textOnly(fmt.Sprintf("must be at most %d schedules, with keys like those of clusters", maxSchedules)),
		"scheduleExpression": textOnly("must be cron(minutes hours day-of-month month day-of-week year), with a ? in exactly one field " +
			"of days, or rate(value unit) with minutes, hours or days"),
		"timezone": predicate(isTimezone, "the name of a time zone such as Europe/Berlin or UTC (IANA's database)"),
		"scheduleTime": predicate(isTime, "a time with its offset such as 2027-01-31T06:00:00Z (RFC 3339)").optional().
			with(", or empty", "remove it"),
		"scheduleCluster": textOnly("must be the key of a cluster of this stack"),
		"scheduleSteps": textOnly(fmt.Sprintf("must be 1 to %d steps, each of another name, of at most %d bytes together",
			maxSteps, maxScheduleInput)),
		"scheduleRetries": intRange(0, maxScheduleRetries),
		"scheduleAge":     intRange(1, maxScheduleMinutes).with(" minutes", ""),
	}
}

func isTimezone(name string) bool {
	_, err := time.LoadLocation(name)
	return name != "" && name != "Local" && err == nil
}

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

// ScheduleKeys returns the keys of the schedules in their order.
func (c Config) ScheduleKeys() []string { return slices.Sorted(maps.Keys(c.Schedules)) }

// ScheduledSteps returns the steps that schedules add to a cluster, in the order of their keys.
func (c Config) ScheduledSteps(cluster string) []Step {
	var out []Step
	for _, key := range c.ScheduleKeys() {
		if s := c.Schedules[key]; s.Cluster == cluster {
			out = append(out, s.Steps...)
		}
	}
	return out
}

// Times returns when the schedule starts. A rate starts at updated, the last update of the schedule. The
// schedule is valid.
func (s Schedule) Times(updated time.Time) (schedule.Schedule, error) {
	out, err := schedule.New(s.Expression, s.Timezone, parsedTime(s.Start), parsedTime(s.End))
	if err == nil && out.Expression.Rate() && out.Start.IsZero() {
		out.Start = updated
	}
	return out, err
}

// parsedTime returns the zero time for none.
func parsedTime(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t
}

func (c Config) checkSchedules(l *violation.List) {
	l.Require(len(c.Schedules) <= maxSchedules, "schedules", len(c.Schedules), rules["schedules"].Text, "declare others in another stack")
	for _, key := range c.ScheduleKeys() {
		at := "schedules." + key
		l.Require(rules["clusterKey"].Holds(key), at, key, rules["clusterKey"].Text, "rename the key")
		c.Schedules[key].check(l, at)
		c.checkScheduled(l, key, at, c.Schedules[key])
	}
}

func (s Schedule) check(l *violation.List, at string) {
	checkFields(l, at, s)
	e, err := schedule.Parse(s.Expression)
	if err != nil {
		l.Require(false, at+".expression", s.Expression, rules["scheduleExpression"].Text+": "+err.Error(), "write e.g. cron(0 2 * * ? *)")
	}
	l.Require(err != nil || !e.Rate() || s.Start == "", at+".start", s.Start, "must be empty with a rate: EventBridge counts from the update "+
		"that last changed the schedule", "remove it, or use cron")
	start, end := parsedTime(s.Start), parsedTime(s.End)
	l.Require(start.IsZero() || end.IsZero() || start.Before(end), at+".end", s.End, "must be after the start", "set a later end, or none")
}

// checkScheduled checks the steps as those of their cluster.
func (c Config) checkScheduled(l *violation.List, key, at string, s Schedule) {
	room := platform.MaxScheduledName(key)
	named := map[string]bool{}
	for i, step := range s.Steps {
		path := pathOf(at+".steps", i) + ".name"
		l.Require(len([]rune(step.Name)) <= room, path, step.Name,
			fmt.Sprintf("must be at most %d characters: the schedule's key and time follow it", room), "shorten it")
		l.Require(!named[step.Name], path, step.Name,
			"must be the name of one step: two of a name are a run that was delivered twice", "rename one")
		named[step.Name] = true
	}
	text := rules["scheduleSteps"].Text
	l.Require(len(s.Steps) > 0, at+".steps", len(s.Steps), text, "name at least one")
	size := inputSize(s.Steps)
	l.Require(size <= maxScheduleInput, at+".steps", size, text, "read long arguments from a file")
	cluster, found := c.Clusters[s.Cluster]
	known := joinOr(c.ClusterKeys())
	if known == "" {
		known = "there is none"
	}
	l.Require(found, at+".cluster", s.Cluster, rules["scheduleCluster"].Text+": "+known, "name one, or declare it")
	if !found {
		return
	}
	l.Require(!cluster.RuntimeRoles.Enabled(), at+".cluster", s.Cluster,
		"must be a cluster without runtimeRoles: the steps of a schedule have "+
			"the nodes' role", "name another cluster")
	l.Require(cluster.KeepAlive, at+".cluster", s.Cluster, "must be a cluster with keepAlive: it would have ended before the schedule starts",
		"set "+ClusterPath(s.Cluster)+".keepAlive")
	settings, on := cluster.settings(ClusterPath(s.Cluster)), cluster.machines()
	for i, step := range s.Steps {
		step.checkProgram(l, pathOf(at+".steps", i))
		cluster.checkSubmitted(l, pathOf(at+".steps", i)+".args", step.Args, settings, on)
	}
	cluster.Steps = s.Steps
	cluster.checkSteps(l, at+".steps")
}

// inputSize returns how many bytes the input of the call has, or a few more: its members are longer than the
// keys of a step.
func inputSize(steps []Step) int {
	const more = 200 // of each step: names of members, the schedule's key and time
	text, err := json.Marshal(steps)
	if err != nil {
		return 0 // only of values that JSON lacks, which no configuration holds
	}
	return len(text) + more*len(steps)
}
