package contract

import (
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
)

// sparkMetrics returns what the Spark plugin measures: all from the driver's JVM,
// except for the executors' own.
func sparkMetrics() []Metric {
	return slices.Concat(phaseMetrics(), executorMetrics(), taskMetrics(), listenerMetrics())
}

// Labels of platform.MetricApplicationInfo. The last four are Airflow's.
const (
	InfoName         = "application_name"
	InfoTrace        = "trace_id"
	InfoStep         = platform.ApplicationInfoStep
	InfoDeployMode   = "deploy_mode"
	InfoSparkVersion = "spark_version"
	InfoDAG          = platform.AirflowDAG
	InfoTask         = platform.AirflowTask
	InfoRun          = platform.AirflowRun
	InfoTry          = platform.AirflowTry
)

// InfoLabels lists them.
func InfoLabels() []string {
	return []string{InfoName, InfoTrace, InfoStep, InfoDAG, InfoTask, InfoRun, InfoTry, InfoDeployMode, InfoSparkVersion}
}

// spark creates an entry of the Spark plugin.
func spark(name, emitted string, kind Type, unit, help string, labels ...string) Metric {
	return Metric{Name: name, Emitted: emitted, Type: kind, Unit: unit, Labels: labels, Source: SourceSpark, Since: EMR615, Help: help}
}

// PhaseShare is the metric of each phase's share of the wall time.
const PhaseShare = "spark_phase_breakdown_ratio"

func phaseMetrics() []Metric {
	metrics := []Metric{
		spark(PhaseShare, "spark.phase.breakdown", Gauge, "1",
			"Share of the wall time so far, by phase; the shares add up to 1.", "phase"),
		spark(platform.MetricPhaseState, "spark.phase.state", Gauge, "", "Phase of the moment: the index in platform.Phases()."),
		spark(platform.MetricPhaseApproximate, "spark.phase.approximate", Gauge, "",
			"1 if the phases are approximate, since events are missing or the plugin had to drop some, else 0."),
		spark(platform.MetricApplicationEnded, "spark.application.ended", Gauge, "",
			"1 once the phases are final, since the context has stopped, else 0; 0 remains of a driver that was killed."),
		spark(platform.MetricSparkWall, "spark.wall", Gauge, "s", "Time from the submission to now or to the application's end."),
		spark("spark_first_executor_wait_seconds", "spark.first_executor_wait", Gauge, "s",
			"Time from the application's start to its first executor; absent without one."),
		spark(platform.MetricApplicationInfo, "spark.application.info", Gauge, "",
			"Always 1; joins names and ids to the other metrics of an application. Labels without a value are absent.", InfoLabels()...),
	}
	for _, phase := range platform.Phases() {
		emitted := "spark.phase." + string(phase)
		if phase == platform.PhaseResourceWait {
			emitted = "spark." + string(phase)
		}
		metrics = append(metrics, spark(phase.Metric(), emitted, Gauge, "s", phaseHelp(phase)))
	}
	return metrics
}

func phaseHelp(phase platform.Phase) string {
	switch phase {
	case platform.PhaseSubmit:
		return "Cluster mode: time from the submission until the job's context started, waiting in the queue included."
	case platform.PhaseResourceWait:
		return "Time in which no executor could run the work that was there, or the context waited at its start for YARN or executors."
	case platform.PhaseCompute:
		return "Time in which tasks ran and none of them wrote."
	case platform.PhaseWrite:
		return "Time in which a task wrote its output, or a write committed."
	case platform.PhaseIdle:
		return "Session servers: time without anything to do."
	case platform.PhaseDriver:
	}
	return "Time in which only the driver worked."
}

func executorMetrics() []Metric {
	return []Metric{
		spark("spark_executor_allocation_latency_seconds", "spark.executor.allocation.latency", Histogram, "s",
			"Time from the request of an executor to its registration; requests count as answered in their order."),
		spark(platform.MetricExecutorCount, "spark.executor.count", Gauge, "{executor}", "Executors that are pending, active and idle.",
			platform.ExecutorState),
		spark("spark_executor_removed_total", "spark.executor.removed", Counter, "{executor}",
			"Executors removed: idle, lost, decommissioned, killed, preempted, memory or other.", "reason"),
		spark("spark_executor_core_time_seconds_total", "spark.executor.core.time", Counter, "s",
			"Core seconds of executors: busy with a task, idle, and missing where tasks wait for a core.", "state"),
		spark("spark_executor_task_duration_seconds", "spark.executor.task.duration", Histogram, "s",
			"Duration of tasks, from the JVM of the executor that ran them: sum and count only, since each executor has series of its own.", "kind"),
	}
}

func taskMetrics() []Metric {
	s3 := spark("spark_task_s3_time_seconds_total", "spark.task.s3.time", Counter, "s",
		"Request time of tasks in S3, from the executor's JVM (Hadoop's IOStatisticsContext): requests that run in parallel all count.",
		"operation")
	s3.Since, s3.OnlyIf = EMR710, "a task used the S3A file system"
	return []Metric{
		spark("spark_task_count_total", "spark.task.count", Counter, "{task}", "Tasks that ended: success, failed or killed.", "outcome"),
		spark("spark_task_duration_seconds", "spark.task.duration", Histogram, "s",
			"Duration of tasks that compute and of those that write.", "kind"),
		spark("spark_task_time_seconds_total", "spark.task.time", Counter, "s", "Time of ended tasks: run is all of the executor's time; "+
			"cpu, gc, fetch_wait and shuffle_write are parts of it that may overlap.", "component"),
		spark("spark_task_io_bytes_total", "spark.task.io", Counter, "By", "Bytes that ended tasks read and wrote.", "direction"),
		spark("spark_task_shuffle_read_bytes", "spark.task.shuffle.read", Histogram, "By", "Shuffle bytes that a task read."),
		spark("spark_task_spill_bytes_total", "spark.task.spill", Counter, "By", "Bytes spilled: their size in memory and on disk.", "kind"),
		spark("spark_task_peak_memory_bytes", "spark.task.peak_memory", Gauge, "By", "Largest peak of execution memory of a task."),
		spark("spark_task_skew_ratio", "spark.task.skew", Gauge, "1",
			"Largest task of the worst finished stage, divided by the stage's median or mean task.", "measure", "of"),
		spark("spark_stage_count_total", "spark.stage.count", Counter, "{stage}", "Stage attempts that ended: success or failed.", "outcome"),
		spark("spark_stage_tail_seconds_total", "spark.stage.tail", Counter, "s",
			"Time by which the longest task of each skewed stage exceeded the stage's median one; stages are skewed by the rule skew."),
		spark("spark_stage_write_compute_seconds_total", "spark.stage.write.compute", Counter, "s",
			"Time of stages that write in which their tasks computed, collected garbage or waited for a shuffle: a share of each stage's duration."),
		spark("spark_stage_cost_seconds_total", "spark.stage.cost", Counter, "s",
			"What a rule's finding cost the stages that ended beyond the rule's limit: a share of each stage's duration, or all of an attempt "+
				"after the first.", "rule"),
		s3,
	}
}

func listenerMetrics() []Metric {
	return []Metric{
		spark("spark_listener_time_seconds_total", "spark.listener.time", Counter, "s", "CPU time of the platform's listener in the driver."),
		spark("spark_listener_dropped_total", "spark.listener.dropped", Counter, "{event}",
			"Events that Spark dropped before the platform's listener saw them."),
		spark("spark_listener_queue_fill_ratio", "spark.listener.queue.fill", Gauge, "1",
			"Events that wait in a queue of Spark's listener bus, divided by the queue's capacity.", "queue"),
		spark("spark_listener_queue_dropped_total", "spark.listener.queue.dropped", Counter, "{event}",
			"Events that a queue of Spark's listener bus dropped because it was full.", "queue"),
		spark("spark_span_dropped_total", "spark.span.dropped", Counter, "{span}",
			"Spans dropped: over the trace's budget, the buffer was full, or the collector refused them.", "reason"),
	}
}

// stepMetrics returns what the control node reports of the steps of the clusters that
// it observes.
func stepMetrics() []Metric {
	s := func(name, emitted string, kind Type, unit, help string, labels ...string) Metric {
		return Metric{Name: name, Emitted: emitted, Type: kind, Unit: unit, Labels: labels, Source: SourceSteps, Since: EMR615, Help: help}
	}
	return []Metric{
		s("observatory_step_duration_seconds", platform.MetricStepDuration, Gauge, "s", "Duration of the last ended step of a name.",
			platform.LabelStepName, platform.LabelStepState),
		s("observatory_step_count_total", platform.MetricStepCount, Counter, "{step}", "Steps that ended, by their final state.",
			platform.LabelStepState),
	}
}

// scheduleMetrics returns what the control node reports of the stack's schedules.
func scheduleMetrics() []Metric {
	return []Metric{{
		Name: platform.MetricLostRuns, Emitted: platform.EmittedLostRuns, Type: Counter, Unit: "{run}", Source: SourceSchedules, Since: EMR615,
		Labels: []string{platform.LabelSchedule}, Help: "Runs of the stack's schedules that EventBridge Scheduler did not start.",
		OnlyIf: "the stack has schedules",
	}}
}

// clusterMetrics returns what the control node reports of the clusters that it observes.
func clusterMetrics() []Metric {
	return []Metric{{
		Name: platform.MetricClusterInfo, Emitted: platform.EmittedClusterInfo, Type: Gauge, Source: SourceClusters, Since: EMR615,
		Labels: []string{platform.LabelClusterName, platform.LabelClusterRelease, platform.LabelClusterState},
		Help: "1; what EMR says of the cluster. The name is the id of a cluster that EMR does not describe. Each state is a series of " +
			"its own, the last of a cluster that has ended its final one.",
	}}
}
