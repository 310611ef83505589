package findings

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// phase returns the length of a phase in milliseconds, and its share of the wall clock. It
// reports false, and notes that the rule was not checked, if the application has no phases.
func (a *application) phase(id rules.ID, name platform.Phase) (row tables.Phase, ok bool) {
	row, ok = a.phases[string(name)]
	if len(a.phases) == 0 {
		a.lack(id, "table phases has no rows: only event logs have what phases need")
	}
	return row, ok
}

// phaseFinding returns a finding about a phase; nil if the value is within the rule's limit.
func phaseFinding(id rules.ID, row tables.Phase, value float64, summary, advice string) *tables.Finding {
	f := judged(id, value)
	if f == nil {
		return nil
	}
	costs(f, float64(row.DurationMillis))
	f.Summary, f.Advice = summary, advice
	cite(f, phasesTable, "phase="+row.Phase, "duration_ms", row.DurationMillis)
	return f
}

// resourceWait finds applications that waited for executors: for long, or for much of their time.
func resourceWait(a *application) {
	row, ok := a.phase(rules.ResourceWait, platform.PhaseResourceWait)
	if !ok {
		return
	}
	wait := time.Duration(row.DurationMillis) * time.Millisecond
	value := wait.Seconds()
	rule := rules.Get(rules.ResourceWait)
	short := value < rule.Warn && row.Ratio >= rule.Floor(rules.WaitShare) && float64(row.DurationMillis) >= rule.Floor(rules.ShortWait)
	if short {
		value = rule.Warn
	}
	f := phaseFinding(rules.ResourceWait, row, value,
		fmt.Sprintf("The application waited %s (%s of its time) for executors.", millis(float64(row.DurationMillis)), percent(row.Ratio)),
		"See in YARN's metrics of that time whether the queue was full, nodes were being added, or no node had room for such a container: "+
			"then raise the queue's capacity or the cluster's scaling limit, or ask for smaller executors.")
	if short {
		f.Value, f.Limit = new(wait.Seconds()), new((time.Duration(rule.Floor(rules.ShortWait)) * time.Millisecond).Seconds())
	}
	a.found.add(f)
}

// long reports whether a phase is long enough for a finding.
func long(id rules.ID, row tables.Phase) bool {
	return float64(row.DurationMillis) >= rules.Get(id).Floor(rules.MinPhase)
}

// slowWrite finds applications that spent much of their time writing. All of a task that writes
// counts for the phase; what its stage computed meanwhile does not count for the finding.
func slowWrite(a *application) {
	row, ok := a.phase(rules.SlowWrite, platform.PhaseWrite)
	if !ok {
		return
	}
	whole := row
	row.DurationMillis = max(0, row.DurationMillis-int64(a.computed))
	if whole.DurationMillis > 0 {
		row.Ratio *= float64(row.DurationMillis) / float64(whole.DurationMillis)
	}
	if !long(rules.SlowWrite, row) {
		return
	}
	f := phaseFinding(rules.SlowWrite, row, row.Ratio,
		fmt.Sprintf("Writing and committing took %s (%s of the application's time).", millis(float64(row.DurationMillis)), percent(row.Ratio)),
		"Write fewer, larger files (repartition by the partition columns, or the hint REBALANCE). Check that nothing bypasses EMR's own "+
			"committer: a changed spark.sql.sources.commitProtocolClass or committer class, Hive's writer, or partitions at places of their own.")
	if f != nil {
		if whole.DurationMillis > row.DurationMillis {
			f.Summary += fmt.Sprintf(" The phase took %s: in the rest, tasks that write computed.", millis(float64(whole.DurationMillis)))
		}
		a.restore(f, "spark.sql.parquet.output.committer.class")
		a.restore(f, "spark.sql.hive.convertMetastoreParquet")
	}
	a.found.add(f)
}

// restore advises the rule's value for a property that the application has changed.
func (a *application) restore(f *tables.Finding, property string) {
	if a.settings[property] != "" {
		a.change(f, property, "")
	}
}

// driverBound finds applications of which only the driver worked.
func driverBound(a *application) {
	row, ok := a.phase(rules.DriverBound, platform.PhaseDriver)
	if !ok || !long(rules.DriverBound, row) {
		return
	}
	f := phaseFinding(rules.DriverBound, row, row.Ratio,
		fmt.Sprintf("Only the driver worked for %s (%s of the application's time), between its jobs.", millis(float64(row.DurationMillis)),
			percent(row.Ratio)),
		"See in the driver's profile what it did: collect and toPandas, listing of many files, planning of large queries, or the program's "+
			"own work. Write from the executors, prune partitions, and start independent jobs from several threads.")
	a.found.add(f)
}

// stageRetries finds applications of which stages ran again. The impact is the time during
// which at least one of the repeated attempts ran: they may overlap.
func stageRetries(a *application) {
	f := judged(rules.StageRetries, float64(len(a.retries)))
	if f == nil {
		return
	}
	costs(f, float64(covered(a.retries)))
	f.Summary = fmt.Sprintf("Stages ran again after their output was lost or could not be fetched: %s, which took %s.",
		counted(int64(len(a.retries)), "further attempt"), millis(float64(*f.Impact)))
	for _, r := range a.retries[:min(len(a.retries), rules.MostOfRule)] {
		cite(f, stagesTable, fmt.Sprintf("stage_id=%d,stage_attempt_id=%d", r.StageID, r.StageAttemptID-1), "failure_reason", r.cause)
	}
	f.Advice = "Mend what loses executors first: see the findings about them."
	a.change(f, "spark.decommission.enabled", "")
	a.found.add(f)
}

// covered returns the milliseconds in which at least one attempt ran.
func covered(all []attempt) (total int64) {
	slices.SortFunc(all, func(a, b attempt) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	until := tables.Millis(0)
	for _, r := range all {
		if r.from > 0 && r.to > max(until, r.from) {
			total += r.to - max(until, r.from)
			until = r.to
		}
	}
	return total
}
