package findings

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// tinyTasks finds stages of very many short tasks, to schedule which takes longer than to run
// them. The impact is the stage's duration times the share of a median task's time that its
// scheduling and deserialization took.
func tinyTasks(a *application, s *stage) *tables.Finding {
	rule, d := rules.Get(rules.TinyTasks), s.durations()
	if d == nil || float64(s.NumCompleteTasks) < rule.Floor(rules.MinTasks) {
		return nil
	}
	if s.summary.DurationP95 == nil {
		a.lack(rules.TinyTasks, "table task_summaries has no duration_p95: an earlier version wrote it")
		return nil
	}
	f := ofStage(rules.TinyTasks, s, d[tables.Median])
	if f == nil || *s.summary.DurationP95 > rule.Floor(rules.MaxP95) {
		return nil
	}
	overhead := middle(s.summary.SchedulerDelay) + middle(s.summary.DeserializeTime) + middle(s.summary.GettingResultTime)
	costsShare(f, s, overhead/max(1, d[tables.Median]))
	f.Summary = fmt.Sprintf("%s had %d tasks, of which the median took %s, %s of that for scheduling and deserialization.", s.title(),
		s.NumCompleteTasks, millis(d[tables.Median]), millis(overhead))
	s.citeSummary(f, "duration", d)
	s.citeSummary(f, "scheduler_delay", s.summary.SchedulerDelay)
	s.citeSummary(f, "executor_deserialize_time", s.summary.DeserializeTime)
	f.Advice = "Use fewer, larger tasks: fewer partitions, or coalesce before an action; compact small input files."
	if s.ShuffleReadBytes > 0 {
		a.fewerPartitions(f, s)
	}
	return f
}

// middle returns the median of quantiles, 0 if there are none.
func middle(quantiles []float64) float64 {
	if len(quantiles) <= tables.Highest {
		return 0
	}
	return quantiles[tables.Median]
}

// failedTasks finds stages whose tasks fail. Those that ran again because their executor was
// lost with their output had not failed.
func failedTasks(a *application, s *stage) *tables.Finding {
	failed := s.NumFailedTasks
	switch {
	case s.NumResubmittedTasks != nil:
		failed -= *s.NumResubmittedTasks
	case failed > 0 && a.lost() > 0:
		a.lack(rules.FailedTasks, "executors were lost, and table stages does not tell failed tasks from resubmitted ones: "+
			"Spark's REST API does not, nor did earlier versions")
		return nil
	}
	ended := failed + s.NumCompleteTasks
	if float64(failed) < rules.Get(rules.FailedTasks).Floor(rules.MinFailed) {
		return nil
	}
	share := float64(failed) / float64(ended)
	f := ofStage(rules.FailedTasks, s, share)
	if f == nil {
		return nil
	}
	costsShare(f, s, share)
	f.Summary = fmt.Sprintf("%d of %d tasks of %s failed.", failed, ended, s.name())
	s.cite(f, "num_failed_tasks", s.NumFailedTasks)
	s.cite(f, "num_complete_tasks", s.NumCompleteTasks)
	if s.FailureReason != nil {
		s.cite(f, "failure_reason", firstLine(*s.FailureReason))
	}
	f.Advice = "Mend the cause of the failures: Spark's UI and the trace have it by task. If all are on one host, " +
		"spark.excludeOnFailure.enabled=true keeps tasks away from it."
	return f
}

// slowHost finds stages of which the tasks on one host take longer than on the others. The
// impact is what the stage would have saved had that host been as fast as the median one.
func slowHost(a *application, s *stage) *tables.Finding {
	rule := rules.Get(rules.SlowHost)
	if s.summary == nil {
		return nil
	}
	h := s.summary.HostSpread
	if h.Hosts == nil || h.HostsMean == nil || h.WorstHost == nil || h.WorstHostTasks == nil || h.WorstHostMean == nil {
		a.lack(rules.SlowHost, "table task_summaries has no hosts: Spark's REST API does not report them, nor did earlier versions")
		return nil
	}
	if float64(*h.Hosts) < rule.Floor(rules.MinHosts) || float64(*h.WorstHostTasks) < rule.Floor(rules.MinTasks) ||
		*h.WorstHostMean-*h.HostsMean < rule.Floor(rules.MinHostExcess) {
		return nil
	}
	f := ofStage(rules.SlowHost, s, *h.WorstHostMean/max(1, *h.HostsMean))
	if f == nil {
		return nil
	}
	costsShare(f, s, 1 - *h.HostsMean / *h.WorstHostMean)
	f.Summary = fmt.Sprintf("On host %s, %s of %s took %s on average; on the median host they took %s.", *h.WorstHost,
		counted(*h.WorstHostTasks, "task"), s.name(), millis(*h.WorstHostMean), millis(*h.HostsMean))
	s.citeSummary(f, "worst_host", *h.WorstHost)
	s.citeSummary(f, "worst_host_mean_ms", *h.WorstHostMean)
	s.citeSummary(f, "hosts_mean_ms", *h.HostsMean)
	f.Advice = "Look at the host's disks, CPU and memory in the EMR Overview at that time, and replace the node if it is worse than others."
	return f
}

// speculation finds stages of which many tasks were killed while Spark ran copies of slow tasks.
func speculation(a *application, s *stage) *tables.Finding {
	rule := rules.Get(rules.Speculation)
	if a.settings["spark.speculation"] != "true" || float64(s.NumKilledTasks) < rule.Floor(rules.MinFailed) ||
		!a.enough(s, rule.Floor(rules.MinStage)) {
		return nil
	}
	ended := s.NumKilledTasks + s.NumCompleteTasks
	f := ofStage(rules.Speculation, s, float64(s.NumKilledTasks)/float64(ended))
	if f == nil {
		return nil
	}
	f.Summary = fmt.Sprintf("%d of %d tasks of %s were killed, mostly because a copy of theirs was faster.", s.NumKilledTasks, ended, s.name())
	s.cite(f, "num_killed_tasks", s.NumKilledTasks)
	f.Advice = "Copies of tasks that write to S3 can duplicate or lose output. Find out why the tasks are slow (skew, a slow host) instead."
	a.change(f, "spark.speculation", "")
	return f
}
