package tables

import "reflect"

// SchemaVersion is written in every file. Adding an optional column keeps it: a reader
// fills what an older file lacks with null. Renaming, removing or retyping a column
// raises it, and files of both versions are then read apart.
const SchemaVersion = 1

// Name is the name of a table, and of its folder in the lake.
type Name string

// Row is a row of a table: a pointer to one of this package's structs.
type Row interface{ Table() Name }

// Sink takes rows, in any order. It keeps no row: the caller may reuse it.
type Sink interface{ Put(row Row) error }

// Scope says what one object of a table is about.
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
		define[Application]("Attempts of applications.", OfAttempt),
		define[ClusterSummary]("Clusters, and how their history was read.", OfCluster),
		define[Job]("Jobs, failed ones too.", OfAttempt, "job_id"),
		define[StageRow]("Attempts of stages, failed and skipped ones too.", OfAttempt, "stage_id", "stage_attempt_id"),
		optIn(define[Task]("Attempts of tasks. Only on request: they are many.", OfAttempt, "task_id")),
		define[TaskSummary]("Quantiles of the successful tasks of a stage's attempt.", OfAttempt, "stage_id", "stage_attempt_id"),
		define[SQL]("SQL executions.", OfAttempt, "sql_id"),
		define[SQLNode]("Metrics of the operators of SQL executions.", OfAttempt, "sql_id", "node_id", "metric"),
		define[Executor]("Executors and drivers.", OfAttempt, "executor_id"),
		define[Environment]("Properties of applications, secrets masked.", OfAttempt, "section", "name"),
		define[Phase]("Phases of the wall clock of applications.", OfAttempt, "phase"),
		define[Completeness]("What is missing, and why.", OfAttempt, "endpoint"),
		define[Finding]("What to change.", OfAttempt, "finding", "stage_id", "stage_attempt_id", "sql_id"),
		define[IneffJobRaw]("Inefficient stages, by the rules of the notebooks.", OfAttempt, "stage_id", "stage_attempt_id"),
		define[IneffJobAgg]("Inefficient applications, by the rules of the notebooks.", OfAttempt),
		define[PhotonAnalysis]("Applications that Photon would speed up.", OfAttempt),
		define[Step]("Steps of EMR clusters.", OfCluster, "step_id"),
		define[Cost]("What the instances of a cluster cost.", OfCluster, "instance_group"),
	}
}

func define[T any, P interface {
	*T
	Row
}](doc string, scope Scope, key ...string) Definition {
	return Definition{Name: P(nil).Table(), Doc: doc, Scope: scope, Key: key, Type: reflect.TypeFor[T]()}
}

func optIn(d Definition) Definition {
	d.OptIn = true
	return d
}

// Table is a method of Row.
func (*Application) Table() Name { return "applications" }

// Table is a method of Row.
func (*ClusterSummary) Table() Name { return "cluster_summaries" }

// Table is a method of Row.
func (*Job) Table() Name { return "jobs" }

// Table is a method of Row.
func (*StageRow) Table() Name { return "stages" }

// Table is a method of Row.
func (*Task) Table() Name { return "tasks" }

// Table is a method of Row.
func (*TaskSummary) Table() Name { return "task_summaries" }

// Table is a method of Row.
func (*SQL) Table() Name { return "sql" }

// Table is a method of Row.
func (*SQLNode) Table() Name { return "sql_nodes" }

// Table is a method of Row.
func (*Executor) Table() Name { return "executors" }

// Table is a method of Row.
func (*Environment) Table() Name { return "environments" }

// Table is a method of Row.
func (*Phase) Table() Name { return "phases" }

// Table is a method of Row.
func (*Completeness) Table() Name { return "completeness" }

// Table is a method of Row.
func (*Finding) Table() Name { return "findings" }

// Table is a method of Row.
func (*IneffJobRaw) Table() Name { return "ineffjobraw" }

// Table is a method of Row.
func (*IneffJobAgg) Table() Name { return "ineffjobagg" }

// Table is a method of Row.
func (*PhotonAnalysis) Table() Name { return "photonanalysis" }

// Table is a method of Row.
func (*Step) Table() Name { return "steps" }

// Table is a method of Row.
func (*Cost) Table() Name { return "costs" }
