package findings

import (
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// jobFailure finds applications that failed or were killed.
func jobFailure(a *application) {
	if a.Outcome == nil {
		a.lack(rules.JobFailure, "how the application ended is unknown: Spark writes the driver's exit code since 4.0 only, and no EMR step "+
			"ran this application alone")
		return
	}
	if *a.Outcome == tables.Succeeded {
		return
	}
	f := judged(rules.JobFailure, 1)
	f.Summary = "The application failed. "
	if *a.Outcome == tables.Killed {
		f.Summary = "The application was killed. "
	}
	cite(f, applicationTable, "", "outcome", *a.Outcome)
	cite(f, applicationTable, "", "num_failed_jobs", a.NumFailedJobs)
	switch {
	case a.FailureCause != nil:
		f.Summary = strings.TrimSuffix(f.Summary, ". ") + ": " + oneLine(*a.FailureCause)
		cite(f, applicationTable, "", "failure_cause", oneLine(*a.FailureCause))
		f.Advice = "Mend the cause; the step's logs have the whole stack trace."
	case a.cause == "":
		f.Summary += "No job or query of it says why: its program or its environment ended it."
		f.Advice = "Read the driver's own last lines: the step's stderr in client mode, the application master's log in cluster mode."
	default:
		f.Summary += "The last failure in it: " + a.cause
		f.Evidence = append(f.Evidence, a.cited+a.cause)
		f.Advice = "Mend the cause; the step's record and the trace have the whole exception."
	}
	a.found.add(f)
}

// oneLine returns a cause, which has its place on a line of its own, on one.
func oneLine(cause string) string { return strings.Join(strings.Fields(cause), " ") }
