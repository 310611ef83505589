package history_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the generated reference")

// reference is the file that documented is rendered to.
const reference = "../../docs/reference/history-differences.md"

// mostDifferences is how many fields may differ.
const mostDifferences = 27

// documentedDifference is a column, or a table, that the REST API cannot fill in as event
// logs do.
type documentedDifference struct {
	field, reason string
	// allowed reports whether two cells differ in just this way. A missing row of a table is
	// nil on its road.
	allowed func(logs, api any) bool
	// only is the name of the application that shows it; "" if any may.
	only string
}

// onlyLogs allows what only logs tell.
func onlyLogs(logs, api any) bool { return logs != nil && api == nil }

// onlyREST allows what only the API tells.
func onlyREST(logs, api any) bool { return logs == nil && api != nil }

// differ allows what differs in any way.
func differ(any, any) bool { return true }

func documented() []documentedDifference {
	return []documentedDifference{
		{field: "applications.core_ms",
			reason:  "Of an application without an end, the API does not report until when its executors worked: null.",
			allowed: onlyLogs},
		{field: "applications.last_event_time", reason: "The API reports no event times: null.",
			allowed: onlyLogs},
		{field: "applications.outcome", reason: "The API does not report the driver's exit code, which logs have since Spark 4.0.",
			allowed: onlyLogs},
		{field: "executors.disk_used", reason: "Logs have no block updates by default (spark.eventLog.logBlockUpdates.enabled): null.",
			allowed: onlyREST},
		{field: "executors.memory_used", reason: "As executors.disk_used.", allowed: onlyREST},
		{field: "executors.rdd_blocks", reason: "As executors.disk_used.", allowed: onlyREST},
		{field: "executors.total_duration",
			reason:  "Of the driver of an application without an end, the API reports a time that keeps growing: 0.",
			allowed: func(_, api any) bool { return api == int64(0) }},
		{field: "jobs.failure_reason", reason: "The API does not report why a job failed; its stages have their reasons: null.",
			allowed: onlyLogs},
		{field: "phases", reason: "Phases need when each block manager registered and each task ended, which the API does not report: no rows.",
			allowed: onlyLogs},
		{field: "photonanalysis.approximate", reason: "As photonanalysis.time_ms.", allowed: differ},
		{field: "photonanalysis.supported_share", reason: "As photonanalysis.time_ms.", allowed: differ},
		{field: "photonanalysis.time_ms", reason: "The API omits the unit of times: the duration of an execution is divided among its operators.",
			allowed: differ},
		{field: "photonanalysis.unknown_share", reason: "As photonanalysis.time_ms.", allowed: differ},
		{field: "photonanalysis.unsupported_share", reason: "As photonanalysis.time_ms.", allowed: differ},
		{field: "sql.error_message", reason: "Only a future version of Spark reports it (SPARK-55881): null.",
			allowed: onlyLogs},
		{field: "sql.root_sql_id", reason: "Only a future version of Spark reports it (SPARK-55881): null.",
			allowed: onlyLogs},
		{field: "stages.num_resubmitted_tasks", reason: "The API counts them as failed ones: null.", allowed: onlyLogs},
		{field: "sql_nodes", only: running, allowed: differ,
			reason: "The UI of a running driver also reports metrics that no task changed: rows with 0."},
		{field: "sql_nodes", only: interrupted, allowed: differ,
			reason: "If an execution ended before its stages, the API omits what they reported afterwards: fewer rows."},
		{field: "sql_nodes.metric_type", reason: "The API formats values as text and does not report types: empty.",
			allowed: func(_, api any) bool { return api == "" }},
		{field: "sql_nodes.text", reason: "The API's text, with minimum, median and maximum. Logs have numbers, and no text.",
			allowed: func(logs, _ any) bool { return logs == "" }},
		{field: "sql_nodes.value", reason: "The API rounds values and omits the unit of times: null unless the text is exact.",
			allowed: onlyLogs},
		{field: "task_summaries.hosts", reason: "The API names the hosts of single tasks only: null.", allowed: onlyLogs},
		{field: "task_summaries.hosts_mean_ms", reason: "As task_summaries.hosts.", allowed: onlyLogs},
		{field: "task_summaries.worst_host", reason: "As task_summaries.hosts.", allowed: onlyLogs},
		{field: "task_summaries.worst_host_mean_ms", reason: "As task_summaries.hosts.", allowed: onlyLogs},
		{field: "task_summaries.worst_host_tasks", reason: "As task_summaries.hosts.", allowed: onlyLogs},
	}
}

// explained returns the documented reason of a difference that an application shows.
func explained(d difference, application string) (reason string, err error) {
	for _, known := range documented() {
		if known.field != d.field() || known.only != "" && known.only != application {
			continue
		}
		if !known.allowed(d.logs, d.api) {
			return "", errors.New("it is documented, but not that it differs like this")
		}
		return known.reason, nil
	}
	return "", errors.New("it is not documented")
}

func TestReference(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Differences between event logs and Spark's REST API\n\nThe profiler reads an application from its event log, or from " +
		"the REST API of a Spark UI or history server if no log is available. The rows are the same, column for column, but for the " +
		"column `source` and these. Generated by `make generate` from the list that tests/history compares both with.\n\n" +
		"| table or column | from the REST API |\n|---|---|\n")
	all := documented()
	require.LessOrEqual(t, len(all), mostDifferences)
	for _, d := range all {
		fmt.Fprintf(&b, "| `%s` | %s |\n", d.field, d.reason)
	}
	if *update {
		require.NoError(t, os.WriteFile(reference, []byte(b.String()), 0o644))
	}
	have, err := os.ReadFile(reference)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(have), "run `make generate`")
}
