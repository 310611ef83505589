package fold

import "strings"

// Kinds of removals of executors: the values of the label reason of
// spark_executor_removed_total, in the order of observatory.spark.ExecutorStatistics.
const (
	removedIdle           = "idle"
	removedLost           = "lost"
	removedDecommissioned = "decommissioned"
	removedKilled         = "killed"
	removedPreempted      = "preempted"
	removedMemory         = "memory"
	removedOther          = "other"
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
	class := removedOther
	switch {
	case has("decommission"):
		class = removedDecommissioned
	case has("preempted"):
		class = removedPreempted
	case has("memory"):
		class = removedMemory
	case has("killed by driver") && dynamic:
		class = removedIdle
	case has("killed"):
		class = removedKilled
	case has("lost", "timed out", "disassociated", "exited", "failed"):
		class = removedLost
	}
	return &class
}
