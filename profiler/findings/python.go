package findings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/rules"
)

// runsPython reports whether an operator runs functions in Python workers: BatchEvalPython,
// ArrowEvalPython, FlatMapGroupsInPandas, PythonMapInArrow and the like.
func runsPython(o operator) bool {
	_, timed := o.metrics[pythonTime]
	return timed || strings.Contains(o.name, "Python") || strings.Contains(o.name, "InPandas") || strings.Contains(o.name, "InArrow")
}

// pythonTime judges an execution whose operators ran Python, by its jobs' stages. Spark measures
// Python's time from 4.0 on. Before, it is at most the time in which the tasks neither computed in
// the JVM, nor collected garbage, nor waited for a shuffle. Tasks that write wait for the store, too:
// their stages do not count unless all stages write.
func (a *application) pythonTime(x *execution, stages map[int64]bool) {
	if !slices.ContainsFunc(x.operators, runsPython) || a.missing[rules.PythonUDF] != "" {
		return
	}
	python, run, outside, writing := float64(x.sum(pythonTime, anyOperator)), 0.0, 0.0, 0.0
	for stage := range stages {
		run += a.runTimes[stage]
		if _, writes := a.outputs[stage]; writes {
			writing += a.outside[stage]
		} else {
			outside += a.outside[stage]
		}
	}
	measured := python > 0
	if !measured {
		python = cmp.Or(outside, writing)
	}
	if python <= 0 || run < rules.Get(rules.PythonUDF).Floor(rules.MinRunTime) {
		return
	}
	f := ofSQL(rules.PythonUDF, x, min(1, python/run))
	if f == nil {
		return
	}
	costs(f, *f.Value*float64(known(x.DurationMillis)))
	if measured {
		cite(f, nodesTable, fmt.Sprintf("sql_id=%d,metric=%s", x.SQLID, pythonTime), "sum(value)", int64(python))
		f.Summary = fmt.Sprintf("Python took %s of the tasks' time of %s: %s of %s.", percent(*f.Value), x.name(), millis(python), millis(run))
	} else {
		for _, stage := range slices.Sorted(maps.Keys(stages)) {
			cite(f, stagesTable, fmt.Sprintf("stage_id=%d", stage), "sum(executor_run_time)", int64(a.runTimes[stage]))
		}
		others := "reading and writing"
		if outside > 0 {
			others = "reading"
		}
		f.Summary = fmt.Sprintf("The tasks of %s, which runs Python functions, did not compute in the JVM for %s of their time: %s of %s. "+
			"Python took it, or %s.", x.name(), percent(*f.Value), millis(python), millis(run), others)
	}
	f.Advice = "Replace Python UDFs by built-in functions, which run in the JVM; else by pandas UDFs, which take batches."
	a.change(f, "spark.sql.execution.arrow.pyspark.enabled", "")
	a.found.add(f)
}
