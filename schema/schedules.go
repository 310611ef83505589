package schema

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/emr-observatory/emr-observatory/schedule"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Limits of EventBridge Scheduler (Scheduler API, RetryPolicy), and the
// number of schedules that a page still shows.
const (
	maxSchedules       = 50
	maxScheduleRetries = 185
	maxScheduleMinutes = 24 * 60
)

// MaxScheduleInput is how many bytes the input of a schedule's target has at most (User Guide, "Quotas").
const MaxScheduleInput = 256 << 10

// Schedule starts steps by the clock.
type Schedule struct {
	Expression    string `json:"expression" rule:"scheduleExpression"`
	Timezone      string `json:"timezone" rule:"timezone"`
	Start         string `json:"start" rule:"scheduleTime"`
	End           string `json:"end" rule:"scheduleTime"`
	Enabled       bool   `json:"enabled"`
	Cluster       string `json:"cluster" rule:"scheduleCluster"`
	Steps         []Step `json:"steps" rule:"scheduleSteps"`
	StepsFrom     string `json:"stepsFrom" rule:"stepsFrom"`
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
		"cluster": "Key of the stack's cluster that runs the steps. An edit that replaces the cluster changes the schedule with it. Of a " +
			"cluster with startedBy " + StartedBySchedules + ", each run starts one of its own.",
		"steps": "The steps, as in clusters.*.steps. Each run adds them with the schedule's key and time in their names, so that a run that " +
			"EventBridge delivers twice is recognised.",
		"stepsFrom": "Object in S3 with the steps, in place of steps: a JSON list of the same objects. It is read by each update, which says " +
			"what it read; a later edit of the object needs another update. Its Content-Type must be application/json, or of text.",
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
			maxSteps, MaxScheduleInput)),
		"stepsFrom": pattern(`^s3://`+bucketPattern+`/[^\s/](\S*[^\s/])?$`, "the s3:// URI of an object "+bucketText).ofBucket().optional().
			with(", or empty", "write e.g. s3://bucket/steps.json"),
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
	for _, key := range c.ClusterKeys() {
		l.Require(!c.Clusters[key].OfSchedules() || len(c.SchedulesOf(key)) > 0, ClusterPath(key)+".startedBy", StartedBySchedules,
			"must be "+StartedByUpdate+" without a schedule that names the cluster: nothing would start it", "add a schedule, or remove the key")
	}
}

// SchedulesOf returns the schedules that name a cluster.
func (c Config) SchedulesOf(cluster string) map[string]Schedule {
	out := maps.Clone(c.Schedules)
	maps.DeleteFunc(out, func(_ string, s Schedule) bool { return s.Cluster != cluster })
	return out
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

// checkScheduled checks the schedule with its cluster.
func (c Config) checkScheduled(l *violation.List, key, at string, s Schedule) {
	l.Require(len(s.Steps) == 0 || s.StepsFrom == "", at+".stepsFrom", s.StepsFrom, "must be empty beside steps", "remove one of the two")
	known := joinOr(c.ClusterKeys())
	if known == "" {
		known = "there is none"
	}
	cluster, found := c.Clusters[s.Cluster]
	l.Require(found, at+".cluster", s.Cluster, rules["scheduleCluster"].Text+": "+known, "name one, or declare it")
	if found {
		l.Require(!cluster.RuntimeRoles.Enabled(), at+".cluster", s.Cluster,
			"must be a cluster without runtimeRoles: the steps of a schedule have "+
				"the nodes' role", "name another cluster")
		l.Require(cluster.KeepAlive || cluster.OfSchedules(), at+".cluster", s.Cluster,
			"must be a cluster with keepAlive, or one that each run starts: it would have ended before the schedule starts",
			"set "+ClusterPath(s.Cluster)+".keepAlive, or .startedBy to "+StartedBySchedules)
	}
	if s.StepsFrom == "" {
		c.CheckScheduledSteps(l, key, at+".steps", s.Steps)
	}
}
