package tables

import "reflect"

// SchemaVersion is written to every file. Adding an optional column keeps it: readers fill
// columns that an older file lacks with null. Renaming, removing or retyping a column
// raises it, and files of the two versions must then be queried separately.
const SchemaVersion = 1

// Name is the name of a table, and of its folder in the lake.
type Name string

// Row is a row of a table: a pointer to one of this package's structs.
type Row interface{ table() Name }

// Table returns the name of a row's table.
func Table(row Row) Name { return row.table() }

// Sink takes rows, in any order. It does not retain a row: the caller may reuse it.
type Sink interface{ Put(row Row) error }

// Scope is the subject of one object of a table.
type Scope int

// Scopes.
const (
	OfAttempt Scope = iota // one attempt of an application
	OfCluster              // one cluster
)

// Definition describes a table.
type Definition struct {
	Name  Name
	Doc   string
	Scope Scope
	Key   []string // columns that identify a row, besides those of its scope
	Type  reflect.Type
	// OptIn tables are written only on request.
	OptIn bool
}

// All lists the tables in the order of the reference.
func All() []Definition {
	return []Definition{
		define[Application]("Application attempts.", OfAttempt),
		define[ClusterSummary]("Clusters, and how their history was read.", OfCluster),
		define[Job]("Jobs, including failed ones.", OfAttempt, "job_id"),
		define[StageRow]("Stage attempts, including failed and skipped ones.", OfAttempt, "stage_id", "stage_attempt_id"),
		optIn(define[Task]("Task attempts. Written only on request, because there are many.", OfAttempt, "task_id")),
		define[TaskSummary]("Quantiles over the successful tasks of a stage's attempt.", OfAttempt, "stage_id", "stage_attempt_id"),
		define[SQL]("SQL executions.", OfAttempt, "sql_id"),
		define[SQLNode]("Metrics of the operators of SQL executions.", OfAttempt, "sql_id", "node_id", "metric"),
		define[Executor]("Executors and drivers.", OfAttempt, "executor_id"),
		define[Environment]("Properties of applications, with secrets masked.", OfAttempt, "section", "name"),
		define[Phase]("Phases of the applications' wall-clock time.", OfAttempt, "phase"),
		define[Completeness]("Missing rows, and why they are missing.", OfAttempt, "endpoint"),
		define[Finding]("Findings: what slowed an application down, and what to change.", OfAttempt,
			"finding", "stage_id", "stage_attempt_id", "sql_id"),
		define[IneffJobRaw]("Stages that exceed fixed limits of skew, spill, data per task or completion rate.", OfAttempt,
			"stage_id", "stage_attempt_id"),
		define[IneffJobAgg]("Share of such stages in applications.", OfAttempt),
		define[PhotonAnalysis]("How much of an application Photon supports. Not filled yet.", OfAttempt),
		define[Step]("Steps of EMR clusters.", OfCluster, "step_id"),
		define[Cost]("Instance groups and fleets of a cluster, by instance type and market.", OfCluster,
			"instance_group", "instance_type", "market"),
	}
}

func define[T any, P interface {
	*T
	Row
}](doc string, scope Scope, key ...string) Definition {
	return Definition{Name: P(nil).table(), Doc: doc, Scope: scope, Key: key, Type: reflect.TypeFor[T]()}
}

func optIn(d Definition) Definition {
	d.OptIn = true
	return d
}

func (*Application) table() Name    { return "applications" }
func (*ClusterSummary) table() Name { return "cluster_summaries" }
func (*Job) table() Name            { return "jobs" }
func (*StageRow) table() Name       { return "stages" }
func (*Task) table() Name           { return "tasks" }
func (*TaskSummary) table() Name    { return "task_summaries" }
func (*SQL) table() Name            { return "sql" }
func (*SQLNode) table() Name        { return "sql_nodes" }
func (*Executor) table() Name       { return "executors" }
func (*Environment) table() Name    { return "environments" }
func (*Phase) table() Name          { return "phases" }
func (*Completeness) table() Name   { return "completeness" }
func (*Finding) table() Name        { return "findings" }
func (*IneffJobRaw) table() Name    { return "ineffjobraw" }
func (*IneffJobAgg) table() Name    { return "ineffjobagg" }
func (*PhotonAnalysis) table() Name { return "photonanalysis" }
func (*Step) table() Name           { return "steps" }
func (*Cost) table() Name           { return "costs" }
