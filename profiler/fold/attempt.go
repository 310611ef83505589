package fold

import (
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/phases/redaction"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// attempt writes the rows of one application attempt. It fills in their keys, redacts
// secrets, and adds derived columns and tables: Log and REST pass it only what Spark
// reported.
type attempt struct {
	id tables.Attempt
	// identify sets the id when the first row is written; nil if the id is known from the start.
	identify func()

	sink    tables.Sink
	secrets *redaction.Rules  // replaced once the application's properties are known
	dynamic bool              // dynamic allocation is on
	shown   map[string]string // by short text: what secrets makes of it; names of jobs and stages repeat
	summary Summary

	counts      counts
	shapes      planShapes
	photon      photonUse
	presences   []presence
	inefficient int64 // milliseconds in inefficient stages
	stages      int64 // milliseconds in all stages
}

// counts are the counts in a row of the table applications.
type counts struct{ jobs, failedJobs, stages, tasks, failedTasks, sql int64 }

// newAttempt returns an attempt that writes its rows to the sink.
func newAttempt(id tables.Attempt, sink tables.Sink) *attempt {
	a := &attempt{id: id, sink: sink, summary: Summary{Rows: map[tables.Name]int64{}}}
	a.configure(nil)
	return a
}

// configure notes what an application's properties say about its rows: what is secret, and
// whether executors come and go.
func (a *attempt) configure(properties map[string]string) {
	a.secrets, a.shown = redaction.New(properties), map[string]string{}
	a.dynamic = strings.EqualFold(strings.TrimSpace(properties["spark.dynamicAllocation.enabled"]), "true")
}

// key returns the key of the rows.
func (a *attempt) key() tables.Attempt {
	if a.id.ApplicationID == "" && a.identify != nil {
		a.identify()
	}
	return a.id
}

func (a *attempt) put(row tables.Row) error {
	if err := a.sink.Put(row); err != nil {
		return fmt.Errorf("write a row of %s of application %s: %w", tables.Table(row), a.id.ApplicationID, err)
	}
	a.summary.Rows[tables.Table(row)]++
	return nil
}

// Limits of the texts in attempt.shown.
const (
	shownTexts = 1000
	shownBytes = 256
)

// Limits of a text. A source's text is truncated before redaction, so that Log and REST
// redact the same text.
const (
	sourceText = 4 << 10 // bytes
	rowText    = 2 << 10 // characters
)

// text returns a text as rows store it: redacted and truncated.
func (a *attempt) text(text string) string {
	if shown, ok := a.shown[text]; ok {
		return shown
	}
	shown := a.redacted(text)
	if len(text) <= shownBytes && len(a.shown) < shownTexts {
		a.shown[strings.Clone(text)] = shown
	}
	return shown
}

func (a *attempt) redacted(text string) string {
	if len(text) > sourceText {
		text = strings.ToValidUTF8(text[:sourceText], "")
	}
	return a.secrets.Text(text, rowText)
}

func (a *attempt) optionalText(text *string) *string {
	if text == nil || *text == "" {
		return nil
	}
	return new(a.text(*text))
}

func (a *attempt) job(row *tables.Job) error {
	row.Attempt = a.key()
	row.JobName, row.Description = a.text(row.JobName), a.optionalText(row.Description)
	row.JobGroup, row.FailureReason = a.optionalText(row.JobGroup), a.optionalText(row.FailureReason)
	row.DurationMillis = duration(row.SubmissionTime, row.CompletionTime)
	row.TaskSuccessRate = percent(row.NumCompletedTasks, row.NumTasks)
	a.counts.jobs++
	if row.Status == JobFailed {
		a.counts.failedJobs++
	}
	return a.put(row)
}

// stage writes the rows of a stage attempt. The summary is nil if Spark has none.
func (a *attempt) stage(row *tables.StageRow, summary *tables.TaskSummary) error {
	row.Attempt = a.key()
	row.StageName, row.Description = a.text(row.StageName), a.optionalText(row.Description)
	row.FailureReason, row.SchedulingPool = a.optionalText(row.FailureReason), a.optionalText(row.SchedulingPool)
	deriveStage(row)
	if Ran(row.Status) {
		a.counts.stages++
		a.counts.tasks += row.NumActiveTasks + row.NumCompleteTasks + row.NumFailedTasks + row.NumKilledTasks
		a.counts.failedTasks += row.NumFailedTasks
	}
	if err := a.put(row); err != nil {
		return err
	}
	if summary != nil {
		summary.Attempt, summary.Stage, summary.RawJSON = a.key(), row.Stage, summaryJSON(summary)
		if err := a.put(summary); err != nil {
			return err
		}
	}
	if !Ran(row.Status) {
		return nil
	}
	flags := inefficiency(row, summary)
	if flags.StageMillis != nil {
		a.stages += *flags.StageMillis
		if flags.Inefficient {
			a.inefficient += *flags.StageMillis
		}
	}
	return a.put(flags)
}

func (a *attempt) task(row *tables.Task) error {
	row.Attempt, row.ErrorMessage = a.key(), a.optionalText(row.ErrorMessage)
	return a.put(row)
}

// executor writes the row of an executor; logs maps the names of its logs to their URLs.
func (a *attempt) executor(row *tables.Executor, logs map[string]string) error {
	row.Attempt, row.RemoveReason = a.key(), a.optionalText(row.RemoveReason)
	row.IsBlacklisted = row.IsExcluded
	row.RemoveClass = removeClass(row.RemoveReason, a.dynamic)
	redacted := make(map[string]string, len(logs))
	for name, url := range logs {
		redacted[name] = a.text(url)
	}
	row.ExecutorLogs = compactJSON(redacted)
	a.presences = append(a.presences, presence{row.AddTime, row.RemoveTime, row.TotalCores})
	return a.put(row)
}

// sql writes the row of a SQL execution, which has its plan as JSON, and the rows of the
// plan's operators.
func (a *attempt) sql(row *tables.SQL, plan *planGraph, value func(planMetric) (value *int64, text string)) error {
	row.Attempt, row.Description, row.ErrorMessage = a.key(), a.text(row.Description), a.optionalText(row.ErrorMessage)
	if row.DurationMillis = duration(row.SubmissionTime, row.CompletionTime); row.Status == SQLRunning {
		row.DurationMillis = nil
	}
	row.RawJSON, row.PlanShape = a.planJSON(plan), a.shapeOf(plan)
	a.shapes.add(row.PlanShape)
	a.counts.sql++
	if err := a.put(row); err != nil {
		return err
	}
	if err := a.photon.execution(a, row, plan, value); err != nil {
		return err
	}
	return a.planRows(row.SQLID, plan, value)
}

// environment writes a row for each property of each section.
func (a *attempt) environment(e *eventlog.EnvironmentUpdate) error {
	for _, section := range []struct {
		name       string
		properties map[string]string
	}{{"runtime", e.JVM}, {"spark", e.Spark}, {"hadoop", e.Hadoop}, {"system", e.System}, {"metrics", e.Metrics}} {
		for _, name := range sorted(section.properties) {
			row := &tables.Environment{Attempt: a.key(), Section: section.name, Name: name}
			row.Value, row.Masked = a.secrets.Property(name, section.properties[name])
			if err := a.put(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// application writes the row of the application, and the rows that need all others. until
// is when executors that were not removed ended; 0 if unknown.
func (a *attempt) application(row *tables.Application, until tables.Millis) error {
	row.Attempt, row.ApplicationName, row.SparkUser = a.key(), a.text(row.ApplicationName), a.text(row.SparkUser)
	row.Queue, row.Master, row.DeployMode = a.optionalText(row.Queue), a.optionalText(row.Master), a.optionalText(row.DeployMode)
	row.DurationMillis = duration(row.StartTime, row.EndTime)
	if row.DurationMillis != nil {
		row.DurationMinutes = new(float64(*row.DurationMillis) / 60_000)
	}
	c := a.counts
	row.NumJobs, row.NumFailedJobs, row.NumStages, row.NumTasks = c.jobs, c.failedJobs, c.stages, c.tasks
	row.NumFailedTasks, row.NumSQLExecutions = c.failedTasks, c.sql
	row.PlanShape = a.shapes.together()
	row.MaxTotalCores, row.CoreMillis = coreTime(a.presences, until)
	a.summary.Application = *row
	if err := a.put(row); err != nil {
		return err
	}
	if err := a.photon.close(a); err != nil {
		return err
	}
	agg := &tables.IneffJobAgg{Attempt: a.key(), StartTime: row.StartTime, IneffStageAgg: percent(a.inefficient, a.stages)}
	return a.put(agg)
}
