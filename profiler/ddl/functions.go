package ddl

import (
	"embed"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/template"

	"github.com/emr-observatory/emr-observatory/profiler/findings"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
	"github.com/emr-observatory/emr-observatory/rules"
)

// Function is one of the notebooks' fourteen tools as a SQL table function. It answers as the tool of
// package tools does, except that numbers are not rounded, texts are whole, and columns whose values
// are themselves rows (the scans of an execution) are left out.
type Function struct {
	Name    string
	Doc     string
	Columns []Column

	parameters []parameter
	file       string      // of its query; "" for rows of table
	table      tables.Name // whose rows it lists
}

// Column is a column of a function's answer.
type Column struct {
	Name string
	Type string // in Spark's SQL
	Doc  string
}

// parameter is one of a function.
type parameter struct {
	name, kind, standard, doc string
}

const anyID = "id of an application, a cluster, an EMR step or a trace, or a part of an application's name"

var (
	subject = parameter{"id", "STRING", "NULL", anyID + "; NULL is the latest application. A cluster or step selects its latest " +
		"applications, everything else the latest run"}
	which    = parameter{"id", "STRING", "NULL", anyID + "; NULL is all"}
	top      = parameter{"top", "INT", "20", "rows at most"}
	oneStage = parameter{"stage", "BIGINT", "NULL", "stage; getsloweststages lists them"}
	part     = parameter{"part", "STRING", "NULL", "only properties with this in their names; NULL is those of Spark"}
)

// Functions lists them in the order of the notebooks' README.
func Functions() []Function {
	all := []Function{
		answer[tools.Application]("getappid", "Applications by any id or name, the latest first.", []parameter{which, top},
			"application_id", "attempt_id", "application_name", "cluster_id", "cluster_name", "step_id", "trace_id", "user", "spark_version",
			"start_time", "duration_ms", "completed", "outcome", "num_failed_jobs", "num_failed_tasks", "core_hours", "usd", "critical_findings",
			"source"),
		answer[tools.Executors]("getexecutor", "Executors: all, by reason of removal, and by host.", []parameter{subject, top},
			"application_id", "group", "executors", "cores", "core_hours", "idle_share", "peak_heap_ratio", "peak_rss_bytes", "gc_share",
			"num_tasks", "num_failed_tasks", "lost"),
		answer[tools.Job]("getslowestjobs", "The slowest jobs, with the time without a job before each.", []parameter{subject, top},
			"application_id", "job_id", "job_name", "status", "duration_ms", "share_of_wall", "gap_before_ms", "num_tasks", "num_failed_tasks",
			"slowest_stage_id", "sql_id", "failure_reason"),
		answer[tools.Execution]("getslowestsql", "The slowest SQL executions.", []parameter{subject, top},
			"application_id", "sql_id", "description", "status", "error_message", "duration_ms", "share_of_wall", "broadcast_bytes_max",
			"files_written", "written_bytes", "disk_bytes_spilled", "rules"),
		answer[tools.Stage]("getsloweststages", "The slowest stages, with skew, spill and shuffle.", []parameter{subject, top}, stageColumns...),
		answer[tools.Setting]("getsparkcontext", "Settings, those first that a finding would change.", []parameter{subject, part, top},
			"property", "value", "masked", "section", "applications", "rule_wants", "rule"),
		answer[tools.Stage]("getstage", "One stage of the latest application that id selects: its attempts, with their distributions over tasks.",
			[]parameter{oneStage, subject}, stageColumns...),
	}
	stage := &all[len(all)-1]
	stage.Columns = append(stage.Columns, distributions...)
	list := all[0]
	list.Name, list.Doc = "listappsraw", "Applications by any id or name, the latest first; the same as getappid."
	all = append(all, list)
	for _, name := range []tables.Name{"environments", "executors", "jobs", "sql", "stages", "tasks"} {
		all = append(all, raw(name))
	}
	return all
}

var stageColumns = []string{
	"application_id", "stage_id", "stage_attempt_id", "stage_name", "status", "failure_reason", "duration_ms", "share_of_wall", "num_tasks",
	"num_failed_tasks", "task_p50_ms", "task_p95_ms", "task_max_ms", "skew_ratio", "run_time_ms", "cpu_time_ms", "gc_time_ms", "fetch_wait_ms",
	"input_bytes", "output_bytes", "shuffle_read_bytes", "shuffle_write_bytes", "shuffle_block_bytes_mean", "disk_bytes_spilled", "sql_id",
	"job_ids", "rules",
}

const quantiles = "minimum, 25th percentile, median, 75th percentile and maximum over its successful tasks"

// distributions are what getstage has beside a stage's row, of which the tool makes rows.
var distributions = []Column{
	{"task_ms_quantiles", "ARRAY<DOUBLE>", "duration, milliseconds: " + quantiles},
	{"gc_ms_quantiles", "ARRAY<DOUBLE>", "garbage collection, milliseconds: " + quantiles},
	{"input_bytes_quantiles", "ARRAY<DOUBLE>", quantiles},
	{"shuffle_read_bytes_quantiles", "ARRAY<DOUBLE>", quantiles},
	{"disk_bytes_spilled_quantiles", "ARRAY<DOUBLE>", quantiles},
	{"worst_host", "STRING", "host whose tasks together took most longer than as many of the median host"},
	{"worst_host_tasks", "BIGINT", "its tasks"},
	{"worst_host_mean_ms", "DOUBLE", "their mean duration, milliseconds"},
	{"findings", "ARRAY<STRING>", "what the rules found, in words"},
}

// rank is the first column of every answer.
var rank = Column{"rank", "BIGINT", "place of the row, from 1"}

// answer describes a function by the row of a tool's answer: these fields of it, under their names.
func answer[Row any](name, doc string, parameters []parameter, fields ...string) Function {
	f := Function{Name: name, Doc: doc, parameters: parameters, Columns: []Column{rank}, file: name}
	all := reflect.VisibleFields(reflect.TypeFor[Row]())
	for _, field := range fields {
		i := slices.IndexFunc(all, func(of reflect.StructField) bool {
			tag, _, _ := strings.Cut(of.Tag.Get("json"), ",")
			return tag == field
		})
		f.Columns = append(f.Columns, Column{field, typeOf(field, all[i].Type), all[i].Tag.Get("jsonschema")})
	}
	return f
}

// typeOf returns the type of a tool's field. Times are texts in answers.
func typeOf(name string, t reflect.Type) string {
	switch t.Kind() { // answers have no other kinds besides rows
	case reflect.Pointer:
		return typeOf(name, t.Elem())
	case reflect.Slice:
		return "ARRAY<" + typeOf("", t.Elem()) + ">"
	case reflect.Float64:
		return "DOUBLE"
	case reflect.Bool:
		return "BOOLEAN"
	case reflect.String:
		if strings.HasSuffix(name, "_time") {
			return tables.Timestamp
		}
		return "STRING"
	}
	return "BIGINT"
}

// raw describes the function that lists rows of a table.
func raw(name tables.Name) Function {
	d, _ := tables.Find(name)
	f := Function{
		Name: tools.RawName(name), Doc: "Rows of the table " + string(name) + " in the order of its key.", Columns: []Column{rank},
		parameters: []parameter{subject, top}, table: name,
	}
	for _, c := range d.Columns() {
		f.Columns = append(f.Columns, Column{c.Name, strings.ToUpper(c.CatalogType()), c.Doc})
	}
	return f
}

//go:embed functions
var files embed.FS

var queries = template.Must(template.New("").ParseFS(files, "functions/*"))

// values are what the queries' templates take.
type values struct {
	In                                   string // schema of the tables with a dot, or "" for DuckDB's
	Most                                 int    // applications of a cluster or step
	Median, Highest                      int    // places in distributions
	Places                               []int  // of a finding's changes
	DataSize, FilesWritten, BytesWritten string // metrics of operators
	Driver                               string // executor that runs no tasks
	Losses                               string // classes of removal, as literals
	Critical                             rules.Severity

	Table        tables.Name // of raw
	Key, Columns []string
}

// mostChanges is more than the settings that a rule changes.
const mostChanges = 16

// query renders the function's query over the tables of a schema.
func (f Function) query(in string) (string, error) {
	v := values{
		In: in, Most: tools.MostApplications, Median: tables.Median, Highest: tables.Highest, Places: make([]int, mostChanges),
		DataSize: findings.DataSize, FilesWritten: findings.FilesWritten, BytesWritten: findings.BytesWritten,
		Driver: fold.DriverExecutor, Critical: rules.Critical, Table: f.table,
	}
	for i := range v.Places {
		v.Places[i] = i
	}
	v.Losses = "'" + strings.Join(tables.Losses(), "', '") + "'"
	name := f.file + ".sql"
	if f.table != "" {
		d, _ := tables.Find(f.table)
		name, v.Key = "raw", d.Key
		for _, c := range f.Columns[1:] {
			v.Columns = append(v.Columns, c.Name)
		}
	}
	var b strings.Builder
	if err := queries.ExecuteTemplate(&b, name, v); err != nil {
		return "", fmt.Errorf("render the query of %s: %w", f.Name, err)
	}
	return strings.TrimSpace(b.String()), nil
}

// functionsOfDatabricks returns the statements that make the functions in a schema.
func functionsOfDatabricks(schema string) (all []string, err error) {
	for _, f := range Functions() {
		query, err := f.query(schema + ".")
		if err != nil {
			return nil, err
		}
		var parameters, columns []string
		for _, p := range f.parameters {
			parameters = append(parameters, fmt.Sprintf("%s %s DEFAULT %s COMMENT %s", p.name, p.kind, p.standard, text(p.doc)))
		}
		for _, c := range f.Columns {
			columns = append(columns, fmt.Sprintf("  `%s` %s%s", c.Name, c.Type, comment(c.Doc)))
		}
		all = append(all, fmt.Sprintf("CREATE OR REPLACE FUNCTION %s.%s(%s)\nRETURNS TABLE (\n%s\n)\nCOMMENT %s\nRETURN\n%s",
			schema, f.Name, strings.Join(parameters, ", "), strings.Join(columns, ",\n"), text(f.Doc), query))
	}
	return all, nil
}

func comment(doc string) string {
	if doc == "" {
		return ""
	}
	return " COMMENT " + text(doc)
}
