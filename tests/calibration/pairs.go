package calibration

import (
	"maps"

	"github.com/emr-observatory/emr-observatory/rules"
)

// Pair is a job that is sick for one reason, and its cure.
type Pair struct {
	Name   string // of its program, examples/jobs/sick/NAME.py
	Recipe string // for which it stands
	Rule   rules.ID
	// Settings are those of both runs. The cured one has those of the finding over them.
	Settings map[string]string
	// Cure has the settings of the cured run if the advice names them in words, without values.
	Cure map[string]string
	Code string // what --cured changes in the program; empty if settings cure it
	Note string // why the ratio of what was saved and claimed is what it is
}

// Pairs lists the pairs.
func Pairs() []Pair {
	return []Pair{
		{
			Name: "spill", Recipe: "oom-and-spill", Rule: rules.Spill,
			Settings: fixed(map[string]string{"spark.executor.memory": "640m", "spark.sql.shuffle.partitions": "2"}),
		},
		{
			Name: "skew", Recipe: "data-skew-diagnosis", Rule: rules.Skew,
			Settings: fixed(map[string]string{
				"spark.executor.memory": "1g", "spark.sql.shuffle.partitions": "12",
				"spark.sql.adaptive.advisoryPartitionSizeInBytes": "16m",
			}),
			Note: "each part of the split partition reads the other side of the join again, and two cores have little to share: the claim " +
				"is what is left above the stage's run time divided by them.",
		},
		{
			Name: "gc", Recipe: "gc-pressure", Rule: rules.GC,
			Settings: fixed(map[string]string{"spark.executor.memory": "512m", "spark.sql.shuffle.partitions": "8"}),
		},
		{
			Name: "shuffle", Recipe: "shuffle-bottleneck", Rule: rules.FetchWait,
			Settings: fixed(map[string]string{
				"spark.reducer.maxSizeInFlight": "256k",
				// Executors on one host read each other's blocks from its disk; those of several
				// hosts ask the shuffle service.
				"spark.shuffle.readHostLocalDisk": "false",
			}),
			Note: "the difference is less than two runs of the same job differ by.",
		},
		{
			Name: "wait", Recipe: "resource-wait-long", Rule: rules.ResourceWait,
			Settings: map[string]string{"spark.executor.memory": "4g", "spark.dynamicAllocation.maxExecutors": "1"},
			Cure:     map[string]string{"spark.executor.memory": "512m"},
			Note:     "the rule names smaller executors in words only, so the value is this test's. What is left is the start of containers.",
		},
		{
			Name: "write", Recipe: "s3-write-slow", Rule: rules.SlowWrite, Settings: fixed(nil),
			Code: "repartition by the partition column before the write",
			Note: "the claim is the whole phase, and 20 of 240 files are still written.",
		},
		{
			Name: "cores", Recipe: "slow-spark-jobs", Rule: rules.LowParallelism,
			Settings: fixed(map[string]string{"spark.sql.shuffle.partitions": "1"}),
		},
	}
}

// fixed makes a job run on two executors with a core each, from its first task on.
func fixed(settings map[string]string) map[string]string {
	all := map[string]string{
		"spark.dynamicAllocation.enabled": "false", "spark.executor.instances": "2", "spark.executor.cores": "1",
		"spark.scheduler.maxRegisteredResourcesWaitingTime": "5min",
	}
	maps.Copy(all, settings)
	return all
}
