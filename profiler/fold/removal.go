package fold

import (
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// removeClass classifies the text that Spark and YARN give for the removal of an executor, as
// observatory.spark.ExecutorStatistics does while the application runs; testdata/removals.txt
// holds both to the same. dynamic says that dynamic allocation is on, which kills what is
// idle. It returns nil for an executor that was not removed.
func removeClass(reason *string, dynamic bool) *string {
	if reason == nil {
		return nil
	}
	text := strings.ToLower(*reason)
	has := func(words ...string) bool {
		for _, word := range words {
			if strings.Contains(text, word) {
				return true
			}
		}
		return false
	}
	class := tables.RemovedOther
	switch {
	case has("decommission"):
		class = tables.RemovedDecommissioned
	case has("preempted"):
		class = tables.RemovedPreempted
	case has("memory"):
		class = tables.RemovedMemory
	case has("killed by driver") && dynamic:
		class = tables.RemovedIdle
	case has("killed"):
		class = tables.RemovedKilled
	case has("lost", "timed out", "disassociated", "exited", "failed"):
		class = tables.RemovedLost
	}
	return &class
}
