package findings

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// Metrics of operators, in Spark's words (SQLMetrics, BasicWriteJobStatsTracker,
// PythonSQLMetrics).
const (
	FilesRead    = "number of files read"
	BytesRead    = "size of files read"
	FilesWritten = "number of written files"
	BytesWritten = "written output"
	commitTime   = "job commit time"
	DataSize     = "data size"
	OutputRows   = "number of output rows"
	pythonTime   = "time to run Python workers"
)

// operator is an operator of a plan, with its metrics.
type operator struct {
	id      int64
	name    string
	metrics map[string]int64
}

// execution is a SQL execution.
type execution struct {
	tables.SQL
	operators []operator
}

// queries judges the SQL executions.
func (a *application) queries(rows Rows) error {
	next, stop := iter.Pull2(rows.Nodes)
	defer stop()
	node, err, more := next()
	var pending []execution // what depends on their jobs' stages
	for row, failed := range rows.SQL {
		if failed != nil {
			return failed // names the table
		}
		if row.ErrorMessage != nil {
			a.cause = firstLine(*row.ErrorMessage)
			a.cited = fmt.Sprintf("%s/sql_id=%d/error_message=", tables.Table(&row), row.SQLID)
		}
		x := &execution{SQL: row}
		x.RawJSON = ""
		for more && err == nil && node.SQLID <= row.SQLID {
			if node.SQLID == row.SQLID {
				a.operator(x, &node)
			}
			node, err, more = next()
		}
		if err != nil {
			return err // names the table
		}
		for _, judge := range []func(*application, *execution){smallFilesRead, smallFilesWritten, slowCommit, largeBroadcasts, crossJoins} {
			judge(a, x)
		}
		if slices.ContainsFunc(x.operators, runsPython) || slices.ContainsFunc(x.operators, func(o operator) bool { return a.unsized(x, o) }) {
			pending = append(pending, *x)
		}
	}
	if len(pending) == 0 {
		return nil
	}
	stages, err := stagesOf(rows, pending)
	if err != nil {
		return err // names the table
	}
	for i := range pending {
		a.pythonTime(&pending[i], stages[pending[i].SQLID])
		a.smallOutput(&pending[i], stages[pending[i].SQLID])
	}
	return nil
}

// stagesOf returns the stages of the jobs of executions, by execution.
func stagesOf(rows Rows, of []execution) (map[int64]map[int64]bool, error) {
	wanted := map[int64]int64{} // execution by job
	for i := range of {
		for _, job := range of[i].JobIDs {
			wanted[job] = of[i].SQLID
		}
	}
	stages := map[int64]map[int64]bool{}
	for job, err := range rows.Jobs {
		if err != nil {
			return nil, err // names the table
		}
		id, some := wanted[job.JobID]
		if !some {
			continue
		}
		if stages[id] == nil {
			stages[id] = map[int64]bool{}
		}
		for _, stage := range job.StageIDs {
			stages[id][stage] = true
		}
	}
	return stages, nil
}

// operator adds a metric of an operator to an execution.
func (a *application) operator(x *execution, node *tables.SQLNode) {
	if len(x.operators) == 0 || x.operators[len(x.operators)-1].id != node.NodeID {
		x.operators = append(x.operators, operator{node.NodeID, node.NodeName, map[string]int64{}})
	}
	if node.Value != nil {
		x.operators[len(x.operators)-1].metrics[node.Metric] += *node.Value
		return
	}
	if id, judged := inexact[node.Metric]; judged {
		a.lack(id, "Spark's REST API rounds the metric %q", node.Metric)
	}
}

// inexact are metrics whose values are null if the REST API rounds them, with the rule that
// needs each.
var inexact = map[string]rules.ID{
	BytesRead: rules.SmallFilesRead, BytesWritten: rules.SmallFilesWritten, commitTime: rules.SlowCommit, pythonTime: rules.PythonUDF,
}

func anyOperator(string) bool { return true }

// sum adds up a metric of the operators whose names match.
func (x *execution) sum(metric string, match func(name string) bool) (total int64) {
	for _, o := range x.operators {
		if match(o.name) {
			total += o.metrics[metric]
		}
	}
	return total
}

// name names the execution in texts.
func (x *execution) name() string {
	return fmt.Sprintf("SQL execution %d (%s)", x.SQLID, firstLine(x.Description))
}

// ofSQL returns the finding of a rule for an execution's value; nil if it is within the limit.
func ofSQL(id rules.ID, x *execution, value float64) *tables.Finding {
	f := judged(id, value)
	if f != nil {
		f.SQLID = new(x.SQLID)
	}
	return f
}

// cite adds a metric of an operator as evidence.
func (x *execution) cite(f *tables.Finding, o operator, metric string) {
	cite(f, nodesTable, fmt.Sprintf("sql_id=%d,node_id=%d,metric=%s", x.SQLID, o.id, metric), "value", o.metrics[metric])
}

// enough reports whether an execution is long enough for a finding that claims no time.
func (x *execution) enough(a *application, id rules.ID) bool {
	wall := known(a.DurationMillis)
	return wall <= 0 || float64(known(x.DurationMillis)) >= rules.Get(id).Floor(rules.MinSQL)*float64(wall)
}

// smallFiles returns a finding about an operator that reads or writes many small files.
func smallFiles(a *application, x *execution, id rules.ID, o operator, files, bytes string) *tables.Finding {
	n := float64(o.metrics[files])
	size, measured := o.metrics[bytes]
	if !measured || size == 0 || n <= rules.Get(id).Floor(rules.MinFiles) || !x.enough(a, id) {
		return nil
	}
	f := ofSQL(id, x, float64(size)/n)
	if f != nil {
		x.cite(f, o, files)
		x.cite(f, o, bytes)
	}
	return f
}

func smallFilesRead(a *application, x *execution) {
	for _, o := range x.operators {
		f := smallFiles(a, x, rules.SmallFilesRead, o, FilesRead, BytesRead)
		if f == nil {
			continue
		}
		f.Summary = fmt.Sprintf("%q of %s read %s files of %s on average.", o.name, x.name(), count(o.metrics[FilesRead]), size(*f.Value))
		f.Advice = "Compact the source (write it again with fewer, larger files, or OPTIMIZE a table format), at best where it is written."
		a.found.add(f)
	}
}

func smallFilesWritten(a *application, x *execution) {
	for _, o := range x.operators {
		a.filesWritten(x, o, false)
	}
}

// filesWritten judges the size of the files that an operator wrote; estimated if it is that of
// what their tasks read.
func (a *application) filesWritten(x *execution, o operator, estimated bool) {
	f := smallFiles(a, x, rules.SmallFilesWritten, o, FilesWritten, BytesWritten)
	if f == nil {
		return
	}
	f.Summary = fmt.Sprintf("%q of %s wrote %s files of %s on average.", o.name, x.name(), count(o.metrics[FilesWritten]), size(*f.Value))
	if estimated {
		f.Summary = fmt.Sprintf("%q of %s wrote %s files, for each of which its tasks read %s. Spark does not know the sizes of files that "+
			"S3A's magic committer completes.", o.name, x.name(), count(o.metrics[FilesWritten]), size(*f.Value))
	}
	f.Advice = "Add the hint /*+ REBALANCE(columns) */ with the partition columns, or call repartition by them, before the write; each " +
		"task writes a file per partition that it has rows of. spark.sql.maxRecordsPerFile only makes files smaller."
	a.found.add(f)
}

func slowCommit(a *application, x *execution) {
	duration := float64(known(x.DurationMillis))
	for _, o := range x.operators {
		ms := float64(o.metrics[commitTime])
		if duration <= 0 || ms < rules.Get(rules.SlowCommit).Floor(rules.MinCommit) {
			continue
		}
		f := ofSQL(rules.SlowCommit, x, min(1, ms/duration))
		if f == nil {
			continue
		}
		costs(f, ms)
		x.cite(f, o, commitTime)
		f.Summary = fmt.Sprintf("Committing the output of %s took %s, %s of its time.", x.name(), millis(ms), percent(*f.Value))
		f.Advice = "A commit that takes long copies files, or handles very many. Check that nothing bypasses EMR's own committer (a changed " +
			"committer class or commit protocol, Hive's writer, partitions at places of their own), and write fewer files."
		a.found.add(f)
	}
}

func largeBroadcasts(a *application, x *execution) {
	for _, o := range x.operators {
		if !strings.HasPrefix(o.name, "BroadcastExchange") || !x.enough(a, rules.LargeBroadcast) {
			continue
		}
		bytes := float64(o.metrics[DataSize])
		f := ofSQL(rules.LargeBroadcast, x, bytes)
		if f == nil {
			continue
		}
		x.cite(f, o, DataSize)
		f.Summary = fmt.Sprintf("%s broadcast %s: the driver collects it, and each executor holds a copy.", x.name(), size(bytes))
		f.Advice = "Remove the query's broadcast hint, or filter that side first."
		a.change(f, "spark.sql.autoBroadcastJoinThreshold", "")
		a.found.add(f)
	}
}

// crossed reports whether an operator joins without an equality condition.
func crossed(name string) bool {
	return strings.HasPrefix(name, "CartesianProduct") || strings.HasPrefix(name, "BroadcastNestedLoopJoin")
}

// source reports whether an operator brings rows into the plan.
func source(name string) bool {
	return strings.HasPrefix(name, "Scan") || strings.HasPrefix(name, "BatchScan") || strings.HasPrefix(name, "Range") ||
		strings.HasPrefix(name, "LocalTableScan") || strings.HasPrefix(name, "InMemoryTableScan")
}

func crossJoins(a *application, x *execution) {
	rule := rules.Get(rules.CrossJoin)
	for _, o := range x.operators {
		rows := float64(o.metrics[OutputRows])
		if !crossed(o.name) || rows < rule.Floor(rules.MinRows) || !x.enough(a, rules.CrossJoin) {
			continue
		}
		scanned := x.sum(OutputRows, source)
		f := ofSQL(rules.CrossJoin, x, rows/float64(max(1, scanned)))
		if f == nil {
			continue
		}
		x.cite(f, o, OutputRows)
		f.Summary = fmt.Sprintf("A %s of %s returned %s rows; the execution scanned %s.", o.name, x.name(), count(int64(rows)), count(scanned))
		f.Advice = "Add an equality condition to the join. For ranges (dates, intervals), add a column with the day or bucket to both sides, " +
			"and join on it first."
		a.found.add(f)
	}
}

// unsized reports whether an operator wrote many files of which Spark knows no size: S3A's magic
// committer completes them after the task has asked.
func (a *application) unsized(x *execution, o operator) bool {
	written, measured := o.metrics[BytesWritten]
	return measured && written == 0 && float64(o.metrics[FilesWritten]) > rules.Get(rules.SmallFilesWritten).Floor(rules.MinFiles) &&
		x.enough(a, rules.SmallFilesWritten)
}

// smallOutput judges the files that an execution wrote by what the tasks of its stages wrote.
func (a *application) smallOutput(x *execution, stages map[int64]bool) {
	var all output
	for stage := range stages {
		all.written += a.outputs[stage].written
		all.read += a.outputs[stage].read
	}
	for _, o := range x.operators {
		if a.unsized(x, o) {
			o.metrics[BytesWritten] = cmp.Or(all.written, all.read)
			a.filesWritten(x, o, all.written == 0)
		}
	}
}
