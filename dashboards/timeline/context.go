package timeline

import (
	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/dashboards/job"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

const (
	runsPast   = "7d" // how far back runs of the same name are compared
	traceLimit = 20
)

func context() panel.Row {
	return panel.Row{Title: "Context", Panels: []panel.Panel{
		application(),
		runs(),
		panel.TraceList(panel.Spec{
			Title: "Traces", Unit: panel.UnitNone, Width: 12,
			Shows: "Traces with spans of the application: its own, which begins at its step or caller, and one per micro-batch of a stream.",
			Bad:   "None for an application that runs: tracing is off, or its trace was not sampled.",
			Next:  "Open one: the spans of the phases are the exact timeline; failed and slow tasks have spans of their own.",
		}, panel.Traces(scope.OneApplication().Spans(), traceLimit)),
		steps(),
	}}
}

// application shows who started the application: Airflow's task, EMR's step, the trace.
func application() panel.Panel {
	info := scope.NewestInRange(job.Metric(platform.MetricApplicationInfo), contract.InfoLabels()...)
	column := func(title, name string, steps []panel.Limit) panel.Column {
		query := scope.Named(scope.PerApplication().Latest(job.Metric(name)), info, contract.InfoLabels()...)
		return panel.Column{Title: title, Unit: panel.UnitSeconds, Query: panel.Metrics(query, ""), Limits: steps}
	}
	return panel.Table(panel.Spec{
		Title: "Application and its caller", Unit: panel.UnitSeconds, Width: 24, Height: 5,
		Links: append([]panel.Link{links.Trace(panel.Cell(contract.InfoTrace))}, links.Job()...),
		Shows: "The application's name, trace, EMR step, deploy mode and version of Spark, and Airflow's DAG, task, run and try, " +
			"if it named them.",
		Bad:  "No DAG for an application that Airflow started: its operator does not pass spark.observatory.airflow.* on.",
		Next: "Open the trace, which begins at the caller if it passed its trace context on.",
	},
		column("Wall time", platform.MetricSparkWall, nil),
		column("Wait", platform.PhaseResourceWait.Metric(), panel.StepsOf(rules.ResourceWait)))
}

// runs compares the application with others of its name.
func runs() panel.Panel {
	all := scope.Of()
	labels := []string{contract.InfoName, contract.InfoTrace}
	cluster := platform.Cluster.Metric()
	same := scope.NewestInRange(all.Metric(platform.MetricApplicationInfo), append([]string{cluster}, labels...)...) +
		" and on (" + cluster + ") " + scope.Chosen(platform.MetricApplicationInfo) + " and on (" + contract.InfoName + ") " +
		scope.NewestInRange(job.Metric(platform.MetricApplicationInfo), contract.InfoName)
	column := func(title, name string, steps []panel.Limit) panel.Column {
		query := scope.Named(scope.PerApplication().Latest(all.Metric(name)), same, labels...)
		return panel.Column{Title: title, Unit: panel.UnitSeconds, Query: panel.Metrics(query, ""), Limits: steps}
	}
	seen := "1000 * " + scope.PerApplication().Max("tlast_over_time("+all.Metric(platform.MetricApplicationInfo)+"[$__range])")
	columns := []panel.Column{
		{Title: "Last seen", Unit: panel.UnitTime, Query: panel.Metrics(scope.Named(seen, same, labels...), "")},
		column("Wall time", platform.MetricSparkWall, nil),
	}
	for _, phase := range platform.Phases() {
		var steps []panel.Limit
		if phase == platform.PhaseResourceWait {
			steps = panel.StepsOf(rules.ResourceWait)
		}
		columns = append(columns, column(phase.Word(), phase.Metric(), steps))
	}
	return panel.Table(panel.Spec{
		Title: "Runs of the same name", Unit: panel.UnitSeconds, Width: 24, Past: runsPast,
		Links: []panel.Link{links.Phases(panel.Cell(platform.SparkAppID)), links.Trace(panel.Cell(contract.InfoTrace))},
		Shows: "The applications of the last seven days that have the name of the chosen one: their wall time and each phase.",
		Bad:   "A run that differs from the others in one phase.",
		Next:  "Open that run's phases, and compare its executors and tasks.",
	}, columns...)
}

func steps() panel.Panel {
	duration := scope.Clusters().Metric("observatory_step_duration_seconds")
	return panel.TimeSeries(panel.Spec{
		Title: "Duration of EMR steps", Unit: panel.UnitSeconds, Width: 12, Height: 10,
		Shows: "Duration of the last step of each name on the selected clusters, from its start to its end, as EMR reports it.",
		Bad:   "A step that takes longer from run to run, or that failed.",
		Next:  "Choose the step's application above; compare its phases with \"Runs of the same name\".",
	}, panel.Metrics(scope.PerCluster(platform.LabelStepName, platform.LabelStepState).Max(duration),
		"{{step_name}}, {{step_state}}"))
}
