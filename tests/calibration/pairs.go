package calibration

import (
	"maps"
	"slices"

	"github.com/emr-observatory/emr-observatory/rules"
)

// Pair is a job that is sick for one reason, and its cure.
type Pair struct {
	Name   string // of its program, examples/jobs/sick/NAME.py
	Recipe string // for which it stands
	Rule   rules.ID
	Also   []rules.ID // of a job that is sick for several reasons
	// Rounds is how often a recorded run does the job's work; 0 for a job that does it once.
	Rounds int
	// Settings are those of both runs. The cured one has those of the finding over them.
	Settings map[string]string
	// Cure has the settings of the cured run if the advice names them in words, without values.
	Cure map[string]string
	Code string // what --cured changes in the program; empty if settings cure it
	Note string // why the ratio of what was saved and claimed is what it is
}

// Rules are those that find what the job is sick for.
func (p Pair) Rules() []rules.ID { return append([]rules.ID{p.Rule}, p.Also...) }

// Pairs lists the pairs.
func Pairs() []Pair {
	return []Pair{
		{
			Name: "spill", Recipe: "oom-and-spill", Rule: rules.Spill, Rounds: 4,
			Settings: fixed(map[string]string{"spark.executor.memory": "640m", "spark.sql.shuffle.partitions": "2"}),
		},
		{
			Name: "skew", Recipe: "data-skew-diagnosis", Rule: rules.Skew, Rounds: 4,
			Settings: fixed(map[string]string{
				"spark.executor.memory": "1g", "spark.sql.shuffle.partitions": "12",
				"spark.sql.adaptive.advisoryPartitionSizeInBytes": "16m",
			}),
		},
		{
			Name: "gc", Recipe: "gc-pressure", Rule: rules.GC, Rounds: 3,
			Settings: fixed(map[string]string{"spark.executor.memory": "512m", "spark.sql.shuffle.partitions": "8"}),
		},
		{
			Name: "shuffle", Recipe: "shuffle-bottleneck", Rule: rules.FetchWait, Rounds: 3,
			Settings: fixed(map[string]string{
				"spark.reducer.maxSizeInFlight": "64k",
				// Executors on one host read each other's blocks from its disk; those of several
				// hosts ask the shuffle service.
				"spark.shuffle.readHostLocalDisk": "false",
			}),
			Note: "both executors are on one machine, where blocks arrive in less than a millisecond: the claim is less than two runs of the " +
				"job differ by. A network between hosts could not be tried.",
		},
		{
			Name: "wait", Recipe: "resource-wait-long", Rule: rules.ResourceWait,
			Settings: map[string]string{"spark.executor.memory": "4g", "spark.dynamicAllocation.maxExecutors": "1"},
			Cure:     map[string]string{"spark.executor.memory": "512m"},
			Note:     "the rule names smaller executors in words only, so the value is this test's.",
		},
		{
			Name: "write", Recipe: "s3-write-slow", Rule: rules.SlowWrite, Settings: fixed(nil),
			Code: "repartition by the partition column before the write",
			Note: "the claim is the whole phase, and 20 of 240 files are still written.",
		},
		{
			Name: "cores", Recipe: "slow-spark-jobs", Rule: rules.LowParallelism, Rounds: 2,
			Settings: fixed(map[string]string{"spark.sql.shuffle.partitions": "1"}),
		},
		{
			Name: "faults", Recipe: "slow-spark-jobs", Rule: rules.Skew, Also: []rules.ID{rules.PythonUDF, rules.SlowWrite, rules.SmallFilesWritten},
			Settings: fixed(map[string]string{
				"spark.executor.memory": "1g", "spark.sql.shuffle.partitions": "12",
				"spark.sql.adaptive.advisoryPartitionSizeInBytes": "16m",
			}),
			Code: "a built-in function for the UDF; the hint REBALANCE for repartition(580)",
			Note: "the job of three faults. What is claimed for slow writes and for Python may be the same seconds.",
		},
	}
}

// WritesToS3 reports whether the job is about what it writes. Others write to a local folder.
func (p Pair) WritesToS3() bool {
	return slices.ContainsFunc(p.Rules(), func(id rules.ID) bool { return id == rules.SlowWrite || id == rules.SmallFilesWritten })
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
