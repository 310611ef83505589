// Package tables defines the typed tables of Spark history: one struct per table, whose
// tags are the Parquet schema and the reference (docs/reference/tables.md).
//
// It has no rules about how rows are made (package fold) or where they are kept (package
// lake).
//
// Names and units are those of the notebooks that these tables replace: a name ends in the
// unit where the notebooks' did, otherwise the doc tag gives it. Times are UTC. A value that
// a source does not know is null, never 0: its field is a pointer, or has the tag optional.
// Key columns are never null; an unknown part of a key is "". A tag json is the column's name
// in Spark's REST API, from which package history reads it.
package tables

import (
	"reflect"
	"strings"
)

// SchemaVersion is written to every file. Adding an optional column keeps it: readers fill
// columns that an older file lacks with null. Renaming, removing or retyping a column
// raises it, and files of the two versions must then be queried separately.
const SchemaVersion = 1

// Name is the name of a table, and of its folder in the lake.
type Name string

// Row is a row of a table: a pointer to one of this package's structs.
type Row interface {
	table() Name
	cluster() Cluster
}

// Table returns the name of a row's table.
func Table(row Row) Name { return row.table() }

// ClusterOf returns the cluster that a row comes from.
func ClusterOf(row Row) Cluster { return row.cluster() }

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
		define[Operation]("What clients of Spark Connect servers asked for; since Spark 3.5, logs only.", OfAttempt,
			"session_id", "operation_id"),
		define[Executor]("Executors and drivers.", OfAttempt, "executor_id"),
		define[Environment]("Properties of applications, with secrets masked.", OfAttempt, "section", "name"),
		define[Phase]("Phases of the applications' wall-clock time.", OfAttempt, "phase"),
		define[Completeness]("How many rows the parts of an application's history should have, and have. A row for each part: with a reason "+
			"where rows are missing, and without one where they have been counted and none is.", OfAttempt, "endpoint"),
		define[Finding]("Findings: what slowed an application down, and what to change.", OfAttempt,
			"finding", "stage_id", "stage_attempt_id", "sql_id"),
		define[IneffJobRaw]("Stages that exceed fixed limits of skew, spill, data per task or completion rate.", OfAttempt,
			"stage_id", "stage_attempt_id"),
		define[IneffJobAgg]("Share of such stages in applications.", OfAttempt),
		define[PhotonAnalysis]("How much of an application, of its SQL executions and of kinds of operators Databricks' engine Photon runs.",
			OfAttempt, "sql_id", "operator"),
		define[Step]("Steps of EMR clusters.", OfCluster, "step_id"),
		define[Cost]("Instance groups and fleets of a cluster, by instance type and market.", OfCluster,
			"instance_group", "instance_type", "market"),
		define[Instance]("EC2 instances of clusters.", OfCluster, "instance_id"),
		define[ApplicationCost]("What applications cost, and what capacity nobody had.", OfCluster, "kind", "application_id", "attempt_id"),
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

var byName = func() map[Name]Definition {
	all := map[Name]Definition{}
	for _, d := range All() {
		all[d.Name] = d
	}
	return all
}()

// Find returns the definition of a table; known is false if there is none of this name.
func Find(name Name) (d Definition, known bool) {
	d, known = byName[name]
	return d, known
}

func (*Application) table() Name     { return "applications" }
func (*ClusterSummary) table() Name  { return "cluster_summaries" }
func (*Job) table() Name             { return "jobs" }
func (*StageRow) table() Name        { return "stages" }
func (*Task) table() Name            { return "tasks" }
func (*TaskSummary) table() Name     { return "task_summaries" }
func (*SQL) table() Name             { return "sql" }
func (*SQLNode) table() Name         { return "sql_nodes" }
func (*Operation) table() Name       { return "operations" }
func (*Executor) table() Name        { return "executors" }
func (*Environment) table() Name     { return "environments" }
func (*Phase) table() Name           { return "phases" }
func (*Completeness) table() Name    { return "completeness" }
func (*Finding) table() Name         { return "findings" }
func (*IneffJobRaw) table() Name     { return "ineffjobraw" }
func (*IneffJobAgg) table() Name     { return "ineffjobagg" }
func (*PhotonAnalysis) table() Name  { return "photonanalysis" }
func (*Step) table() Name            { return "steps" }
func (*Cost) table() Name            { return "costs" }
func (*Instance) table() Name        { return "instances" }
func (*ApplicationCost) table() Name { return "application_costs" }

// Column describes a column of a table.
type Column struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // BIGINT, DOUBLE, VARCHAR, BOOLEAN or TIMESTAMP; with [] if a list
	Nullable bool   `json:"nullable"`
	Doc      string `json:"doc"`
}

// Timestamp is the type of columns that are times.
const Timestamp = "TIMESTAMP"

// Unit is the unit of a column's numbers: ms, ns, bytes or percent, "" for others. The column's
// own description says it.
func (c Column) Unit() string {
	if c.Type != "BIGINT" && c.Type != "DOUBLE" && c.Type != "BIGINT[]" && c.Type != "DOUBLE[]" {
		return ""
	}
	for _, unit := range []struct{ words, name string }{
		{"nanoseconds", "ns"}, {"milliseconds", "ms"}, {"bytes", "bytes"}, {"0 to 100", "percent"},
	} {
		if strings.Contains(c.Doc, unit.words) {
			return unit.name
		}
	}
	return ""
}

// Columns lists the table's columns in their order.
func (d Definition) Columns() []Column { return columns(d.Type) }

func columns(t reflect.Type) (all []Column) {
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous {
			all = append(all, columns(field.Type)...)
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("parquet"), ",")
		all = append(all, Column{
			Name: name, Type: sqlType(field.Type, options), Nullable: strings.Contains(options, "optional"), Doc: field.Tag.Get("doc"),
		})
	}
	return all
}

func sqlType(t reflect.Type, options string) string {
	switch t.Kind() { // columns have no other kinds
	case reflect.Pointer:
		return sqlType(t.Elem(), options)
	case reflect.Slice:
		return sqlType(t.Elem(), options) + "[]"
	case reflect.Float64:
		return "DOUBLE"
	case reflect.Bool:
		return "BOOLEAN"
	case reflect.String:
		return "VARCHAR"
	}
	if strings.Contains(options, "timestamp") {
		return Timestamp
	}
	return "BIGINT"
}

// Cluster identifies the cluster that rows come from.
type Cluster struct {
	Account     string `parquet:"account,dict" doc:"AWS account of the cluster; empty if the source belongs to none"`
	Region      string `parquet:"region,dict" doc:"AWS region; empty if the source is in none"`
	ClusterID   string `parquet:"cluster_id,dict" doc:"EMR's id (j-…), Databricks' id, or the name given to the source"`
	ClusterName string `parquet:"cluster_name,dict" doc:"name of the cluster"`
}

func (c Cluster) cluster() Cluster { return c }

// Attempt identifies an attempt of an application. Stage, job and SQL ids repeat across
// applications and attempts, so every table about applications has all of these columns.
type Attempt struct {
	Cluster
	ApplicationID string `parquet:"application_id,dict" doc:"YARN's or Spark's id of the application"`
	AttemptID     string `parquet:"attempt_id,dict" doc:"YARN's attempt in cluster mode; empty in client mode, which has none"`
	Source        Source `parquet:"source,dict" doc:"source of the row: logs or rest; empty for an application that was not read"`
}

// Source is the source of a row.
type Source string

// Sources.
const (
	SourceLogs Source = "logs" // Spark's event log
	SourceREST Source = "rest" // the REST API of a Spark UI or history server
)

// Stage identifies an attempt of a stage.
type Stage struct {
	StageID        int64 `parquet:"stage_id" json:"stageId" doc:"stage; unique in an attempt of an application"`
	StageAttemptID int64 `parquet:"stage_attempt_id" json:"attemptId" doc:"attempt of the stage, from 0"`
}

// Millis is a time in milliseconds since 1970, UTC. In an optional column 0 is null.
type Millis = int64
