package judge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// patient is a log that fires a rule, and the same job in health, or with what looks alike.
type patient struct {
	ill   func(j *sparkJob)
	twins map[string]func(j *sparkJob)
}

// perTask returns metrics of a task that reads a healthy amount of input, and others.
func perTask(more func(i int) object) func(int) object {
	return func(i int) object {
		m := object{"Input Metrics": object{"Bytes Read": 100 * mib, "Records Read": 1000}}
		for name, value := range more(i) {
			m[name] = value
		}
		return m
	}
}

func shuffled(each int64, more object) object {
	read := object{"Remote Bytes Read": each, "Local Bytes Read": 0, "Total Records Read": 1000, "Remote Blocks Fetched": 10}
	for name, value := range more {
		read[name] = value
	}
	return object{"Shuffle Read Metrics": read, "Input Metrics": object{"Bytes Read": 0, "Records Read": 0}}
}

// patients has a log for each rule whose signal a single job of one stage can have. The others
// have logs of their own: phases in phases/testdata/logs, earlier runs in TestSlowerThanUsual.
func patients() map[rules.ID]patient {
	files := func(name, files, bytes string, size int64) []planNode {
		return []planNode{{name, []planMetric{{files, "sum", 1000}, {bytes, "size", 1000 * size}}}}
	}
	return map[rules.ID]patient{
		rules.Skew: {
			ill: func(j *sparkJob) {
				j.duration = func(i int) int64 { return map[bool]int64{true: 600_000, false: 60_000}[i < 16] }
				j.metrics = func(i int) object {
					return object{"Input Metrics": object{"Bytes Read": map[bool]int64{true: gib, false: 100 * mib}[i < 16], "Records Read": 1000}}
				}
			},
			twins: map[string]func(*sparkJob){
				"the first tasks, of even data": func(j *sparkJob) {
					j.duration = func(i int) int64 { return map[bool]int64{true: 600_000, false: 60_000}[i < 16] }
				},
				"two tasks": func(j *sparkJob) { j.tasks, j.duration = 2, func(i int) int64 { return 500_000 + 100_000*int64(i) } },
				"one of many": func(j *sparkJob) {
					j.duration = func(i int) int64 { return map[bool]int64{true: 600_000, false: 100_000}[i == 0] }
				},
			},
		},
		rules.Spill: {
			ill: func(j *sparkJob) {
				j.metrics = func(int) object {
					m := shuffled(200*mib, nil)
					m["Disk Bytes Spilled"], m["Memory Bytes Spilled"] = 300*mib, gib
					return m
				}
			},
			twins: map[string]func(*sparkJob){"a little": func(j *sparkJob) {
				j.metrics = func(int) object {
					m := shuffled(200*mib, nil)
					m["Disk Bytes Spilled"], m["Memory Bytes Spilled"] = 30*mib, 100*mib
					return m
				}
			}},
		},
		rules.GC: {
			ill: func(j *sparkJob) { j.metrics = perTask(func(int) object { return object{"JVM GC Time": 30_000} }) },
			twins: map[string]func(*sparkJob){"a little": func(j *sparkJob) {
				j.metrics = perTask(func(int) object { return object{"JVM GC Time": 3000} })
			}},
		},
		rules.TinyTasks: {
			ill: func(j *sparkJob) {
				j.tasks, j.to = 16_000, 300_000
				j.duration = func(int) int64 { return 200 }
				j.metrics = perTask(func(int) object { return object{"Executor Run Time": 50} })
			},
			twins: map[string]func(*sparkJob){"they work": func(j *sparkJob) {
				j.tasks, j.to = 16_000, 300_000
				j.duration = func(int) int64 { return 290 }
			}},
		},
		rules.LowParallelism: {
			ill: func(j *sparkJob) { j.tasks, j.duration = 2, func(int) int64 { return 1_170_000 } },
			twins: map[string]func(*sparkJob){"few cores": func(j *sparkJob) {
				j.tasks, j.executors, j.duration = 4, 1, func(int) int64 { return 1_170_000 }
			}},
		},
		rules.LargePartition: {
			ill: func(j *sparkJob) {
				j.metrics = func(int) object { return object{"Input Metrics": object{"Bytes Read": 6 * gib, "Records Read": 1000}} }
			},
			twins: map[string]func(*sparkJob){"smaller": func(j *sparkJob) {
				j.metrics = func(int) object { return object{"Input Metrics": object{"Bytes Read": 2 * gib, "Records Read": 1000}} }
			}},
		},
		rules.FailedTasks: {
			ill: func(j *sparkJob) {
				for i := range 40 {
					j.failing[i] = "ExceptionFailure"
				}
			},
			twins: map[string]func(*sparkJob){"resubmitted": func(j *sparkJob) {
				for i := range 40 {
					j.failing[i] = "Resubmitted"
				}
			}},
		},
		rules.StageRetries: {ill: func(j *sparkJob) { j.attempts, j.duration = 2, func(int) int64 { return 55_000 } }},
		rules.SlowHost: {
			ill: func(j *sparkJob) {
				j.duration = func(i int) int64 { return map[bool]int64{true: 110_000, false: 40_000}[i%4 == 3] }
			},
			twins: map[string]func(*sparkJob){"two hosts": func(j *sparkJob) {
				j.executors, j.cores = 2, 8
				j.duration = func(i int) int64 { return map[bool]int64{true: 110_000, false: 40_000}[i%2 == 1] }
			}},
		},
		rules.Speculation: {
			ill:   func(j *sparkJob) { j.settings["spark.speculation"], j.killed = "true", 40 },
			twins: map[string]func(*sparkJob){"off": func(j *sparkJob) { j.killed = 40 }},
		},
		rules.ResultLarge: {
			ill: func(j *sparkJob) { j.metrics = perTask(func(int) object { return object{"Result Size": mib} }) },
			twins: map[string]func(*sparkJob){"small": func(j *sparkJob) {
				j.metrics = perTask(func(int) object { return object{"Result Size": 1000} })
			}},
		},
		rules.FetchWait: {
			ill: func(j *sparkJob) {
				j.metrics = func(int) object { return shuffled(200*mib, object{"Fetch Wait Time": 40_000}) }
			},
			twins: map[string]func(*sparkJob){"a little": func(j *sparkJob) {
				j.metrics = func(int) object { return shuffled(200*mib, object{"Fetch Wait Time": 4000}) }
			}},
		},
		rules.SmallBlocks: {
			ill: func(j *sparkJob) {
				j.metrics = func(int) object {
					return shuffled(2*mib, object{"Fetch Wait Time": 20_000, "Remote Blocks Fetched": 1000})
				}
			},
			twins: map[string]func(*sparkJob){"no one waits": func(j *sparkJob) {
				j.metrics = func(int) object { return shuffled(2*mib, object{"Remote Blocks Fetched": 1000}) }
			}},
		},
		rules.LargeShuffleReads: {
			ill:   func(j *sparkJob) { j.metrics = func(int) object { return shuffled(600*mib, nil) } },
			twins: map[string]func(*sparkJob){"smaller": func(j *sparkJob) { j.metrics = func(int) object { return shuffled(300*mib, nil) } }},
		},
		rules.SmallFilesRead: {
			ill: func(j *sparkJob) { j.plan = files("Scan parquet t", "number of files read", "size of files read", mib) },
			twins: map[string]func(*sparkJob){"large": func(j *sparkJob) {
				j.plan = files("Scan parquet t", "number of files read", "size of files read", 100*mib)
			}},
		},
		rules.SmallFilesWritten: {
			ill: func(j *sparkJob) {
				j.plan = files("Execute InsertIntoHadoopFsRelationCommand", "number of written files", "written output", mib)
			},
			twins: map[string]func(*sparkJob){"large": func(j *sparkJob) {
				j.plan = files("Execute InsertIntoHadoopFsRelationCommand", "number of written files", "written output", 100*mib)
			}},
		},
		rules.SlowCommit: {
			ill: func(j *sparkJob) {
				j.plan = []planNode{{"Execute Insert", []planMetric{{"job commit time", "timing", 300_000}}}}
			},
			twins: map[string]func(*sparkJob){"fast": func(j *sparkJob) {
				j.plan = []planNode{{"Execute Insert", []planMetric{{"job commit time", "timing", 3000}}}}
			}},
		},
		rules.LargeBroadcast: {
			ill: func(j *sparkJob) {
				j.plan = []planNode{{"BroadcastExchange", []planMetric{{"data size", "size", 2 * gib}}}}
			},
			twins: map[string]func(*sparkJob){"a shuffle": func(j *sparkJob) {
				j.plan = []planNode{{"Exchange", []planMetric{{"data size", "size", 2 * gib}}}}
			}},
		},
		rules.CrossJoin: {
			ill: func(j *sparkJob) {
				j.plan = []planNode{
					{"CartesianProduct", []planMetric{{"number of output rows", "sum", 5_000_000}}},
					{"Scan parquet t", []planMetric{{"number of output rows", "sum", 5000}}},
				}
			},
			twins: map[string]func(*sparkJob){"with a key": func(j *sparkJob) {
				j.plan = []planNode{
					{"SortMergeJoin", []planMetric{{"number of output rows", "sum", 5_000_000}}},
					{"Scan parquet t", []planMetric{{"number of output rows", "sum", 5000}}},
				}
			}},
		},
		rules.PythonUDF: {
			ill: func(j *sparkJob) {
				j.plan = []planNode{{"BatchEvalPython", []planMetric{{"time to run Python workers", "timing", 9_000_000}}}}
			},
			twins: map[string]func(*sparkJob){"a little": func(j *sparkJob) {
				j.plan = []planNode{{"BatchEvalPython", []planMetric{{"time to run Python workers", "timing", 900_000}}}}
			}},
		},
		rules.ExecutorsLost: {
			ill: func(j *sparkJob) { j.removed[2] = removal{1_195_000, "Executor heartbeat timed out after 130000 ms"} },
			twins: map[string]func(*sparkJob){"idle": func(j *sparkJob) {
				j.settings["spark.dynamicAllocation.enabled"] = "true"
				j.removed[2] = removal{1_195_000, "Executor killed by driver."}
			}},
		},
		rules.ExecutorMemory: {
			ill: func(j *sparkJob) {
				j.removed[1] = removal{1_195_000, "Container killed by YARN for exceeding physical memory limits. 5.1 GB of 5 GB used."}
			},
			twins: map[string]func(*sparkJob){"preempted": func(j *sparkJob) { j.removed[1] = removal{1_195_000, "Container was preempted."} }},
		},
		rules.MemoryOverheadLow: {
			ill: func(j *sparkJob) { j.tree = 5*gib - 100*mib },
		},
		rules.MemoryIdle: {
			ill:   func(j *sparkJob) { j.heap = gib },
			twins: map[string]func(*sparkJob){"two executors": func(j *sparkJob) { j.heap, j.executors, j.cores = gib, 2, 8 }},
		},
		rules.IdleCores: {
			ill: func(j *sparkJob) { j.executors, j.tasks = 16, 160 },
		},
		rules.ExecutorChurn: {
			ill: func(j *sparkJob) {
				j.executors, j.settings["spark.dynamicAllocation.enabled"] = 8, "true"
				for x := range 4 {
					j.removed[x] = removal{j.added + 70_000, "Executor killed by driver."}
				}
			},
			twins: map[string]func(*sparkJob){"lived longer": func(j *sparkJob) {
				j.executors, j.settings["spark.dynamicAllocation.enabled"] = 8, "true"
				for x := range 4 {
					j.removed[x] = removal{j.added + 700_000, "Executor killed by driver."}
				}
			}},
		},
		rules.JobFailure: {
			ill: func(j *sparkJob) { j.exitCode = new(1) },
		},
		rules.ResourceWait: {
			ill: func(j *sparkJob) {
				j.added, j.from, j.to, j.end = 700_000, 10_000, 1_890_000, 1_900_000
				j.duration = func(int) int64 { return 118_000 }
			},
		},
		rules.DriverBound: {
			ill: func(j *sparkJob) { j.end = 2_400_000 },
			twins: map[string]func(*sparkJob){"an idle session": func(j *sparkJob) {
				j.end, j.class = 2_400_000, "org.apache.spark.sql.connect.service.SparkConnectServer"
			}},
		},
	}
}

// elsewhere are the rules whose logs other tests have.
func elsewhere() map[rules.ID]string {
	return map[rules.ID]string{
		rules.SlowWrite: "reference.jsonl, in TestFindingsOfLogs",
		rules.Slower:    "TestSlowerThanUsual",
	}
}

// Each rule fires on a log of its kind; the healthy job, and jobs that look alike, do not fire
// it.
func TestEveryRuleOnLogs(t *testing.T) {
	from := filepath.Join(t.TempDir(), "team-a")
	require.NoError(t, os.Mkdir(from, 0o755))
	names := map[string]string{}
	add := func(name string, change func(*sparkJob)) {
		j := healthyJob()
		if change != nil {
			change(j)
		}
		id := fmt.Sprintf("application_1700000000000_%04d", len(names))
		names[id] = name
		require.NoError(t, os.WriteFile(filepath.Join(from, id), j.log(t, id), 0o600))
	}
	add("healthy", nil)
	cases := patients()
	for _, rule := range rules.All() {
		if len(rule.Columns) == 0 || elsewhere()[rule.ID] != "" {
			continue
		}
		c, has := cases[rule.ID]
		require.True(t, has, rule.ID)
		add(string(rule.ID), c.ill)
		for name, twin := range c.twins {
			add(string(rule.ID)+": "+name, twin)
		}
	}
	o := options(t.TempDir())
	o.Logs = from
	s, err := run.Run(t.Context(), aws.Config{}, o, quiet{})
	require.NoError(t, err)
	require.Empty(t, s.Incomplete)
	found := map[string][]string{}
	for _, f := range read[tables.Finding](t, o.Output) {
		if f.NotChecked == "" {
			found[names[f.ApplicationID]] = append(found[names[f.ApplicationID]], f.Finding)
		} else if f.Finding != string(rules.Slower) && f.NotChecked != rules.Get(rules.ID(f.Finding)).NotInTables {
			t.Errorf("%s: %s", names[f.ApplicationID], f.Summary)
		}
	}
	for _, name := range names {
		rule, _, twin := strings.Cut(name, ": ")
		switch fired := slices.Contains(found[name], rule); {
		case name == "healthy":
			require.Empty(t, found[name], "the healthy job")
		case twin && fired:
			t.Errorf("%s fires the rule", name)
		case !twin && !fired:
			t.Errorf("%s does not fire: %v", name, found[name])
		}
	}
}
