package phases_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/emr-observatory/emr-observatory/eventlog"
)

// writeCommand is an operator that writes.
const writeCommand = "Execute InsertIntoHadoopFsRelationCommand"

// randomEvents makes a log of up to a hundred milliseconds in which everything may be
// missing.
func randomEvents(random *rand.Rand) (events []eventlog.Event) {
	at := func(from int64) int64 { return from + random.Int64N(30) }
	add := func(often float64, event eventlog.Event) {
		if random.Float64() < often {
			events = append(events, event)
		}
	}
	start := at(1000)
	spark := map[string]string{"spark.master": "yarn"}
	if random.IntN(2) == 0 {
		spark["spark.app.submitTime"] = fmt.Sprint(start - 20 + random.Int64N(30))
	}
	if random.IntN(3) == 0 {
		spark["spark.submit.deployMode"] = "cluster"
	}
	if random.IntN(8) == 0 {
		spark["spark.master"] = "local[4]"
	}
	randomRegistration(random, spark)
	command := "org.apache.spark.deploy.SparkSubmit job.py"
	if random.IntN(4) == 0 {
		command += " pyspark-shell"
	}
	add(0.95, &eventlog.EnvironmentUpdate{Spark: spark, System: map[string]string{"sun.java.command": command}})
	add(0.95, &eventlog.ApplicationStart{Time: start, ID: "a"})
	add(0.9, &eventlog.BlockManagerAdded{Time: at(start), BlockManagerID: eventlog.BlockManagerID{Executor: "driver"}})
	add(0.8, &eventlog.ApplicationEnd{Time: at(start + 70)})
	randomExecutors(random, start, add)
	for id := range random.Int64N(3) {
		from := at(start)
		var root *int64
		if id > 0 && random.IntN(3) == 0 {
			root = new(int64)
		}
		plan := func() eventlog.PlanNode {
			return eventlog.PlanNode{Name: "Sort", Children: []eventlog.PlanNode{{Name: []string{"Scan", writeCommand}[random.IntN(2)]}}}
		}
		add(0.95, &eventlog.SQLStart{ID: id, Root: root, Time: from, Plan: plan()})
		add(0.2, &eventlog.SQLPlan{ID: id, Plan: plan()})
		end := at(from + 30)
		if random.IntN(3) == 0 {
			end = from + random.Int64N(5) // jobs carry its id after its end
		}
		add(0.9, &eventlog.SQLEnd{ID: id, Time: end})
	}
	randomOperations(random, at(start), add)
	task := int64(0)
	for id := range random.Int64N(4) {
		from := at(start + 10)
		stages := []eventlog.Stage{{ID: 2 * id}, {ID: 2*id + 1}}
		start := &eventlog.JobStart{ID: id, Time: from, Stages: stages}
		if execution := random.Int64N(4) - 1; execution >= 0 {
			start.Properties.Execution = &execution
		}
		add(0.95, start)
		add(0.9, &eventlog.JobEnd{ID: id, Time: at(from + 30)})
		for _, listed := range stages {
			stage := listed.ID
			attempt := random.Int64N(2)
			submitted := at(from)
			s := eventlog.Stage{ID: stage, Attempt: attempt, Tasks: 1, Submitted: submitted, ResourceProfile: randomProfile(random)}
			add(0.2, &eventlog.ExecutorExcluded{Time: at(submitted), ID: fmt.Sprint(random.IntN(3)), Stage: &stage, Attempt: attempt})
			add(0.1, &eventlog.ExecutorExcluded{Time: at(submitted), Host: "h0", Stage: &stage, Attempt: attempt})
			add(0.9, &eventlog.StageSubmitted{Stage: s})
			s.Completed = at(submitted + 10)
			add(0.8, &eventlog.StageCompleted{Stage: s})
			for range random.IntN(3) {
				launched := at(submitted)
				v := eventlog.Task{ID: task, StageID: stage, StageAttempt: attempt, Launched: launched, Executor: fmt.Sprint(random.IntN(3))}
				task++
				add(0.95, &eventlog.TaskStart{Task: v})
				v.Finished = launched + random.Int64N(20)
				end := &eventlog.TaskEnd{Task: v, Type: "ShuffleMapTask", Outcome: eventlog.Success}
				if stage == stages[1].ID || random.IntN(4) == 0 {
					end.Type = "ResultTask"
					if random.IntN(4) > 0 {
						end.Metrics = &eventlog.TaskMetrics{TaskOutput: eventlog.TaskOutput{OutputRecords: random.Int64N(2)}}
					}
				}
				add(0.85, end)
			}
		}
	}
	return events
}

// randomExecutors adds executors on two hosts, and when these are excluded.
func randomExecutors(random *rand.Rand, start int64, add func(often float64, event eventlog.Event)) {
	at := func(from int64) int64 { return from + random.Int64N(30) }
	for id := range random.Int64N(3) {
		from := at(start)
		host := "h" + fmt.Sprint(id%2)
		info := eventlog.ExecutorInfo{Host: host, ResourceProfile: randomProfile(random)}
		add(0.95, &eventlog.ExecutorAdded{Time: from, ID: fmt.Sprint(id), ExecutorInfo: info})
		manager := eventlog.BlockManagerID{Executor: fmt.Sprint(id)}
		add(0.7, &eventlog.BlockManagerAdded{Time: at(from), BlockManagerID: manager})
		add(0.2, &eventlog.BlockManagerAdded{Time: at(from), BlockManagerID: manager})
		add(0.5, &eventlog.ExecutorRemoved{Time: at(from + 10), ID: fmt.Sprint(id)})
		for _, x := range []eventlog.ExecutorExcluded{{ID: fmt.Sprint(id)}, {Host: host}} {
			for range random.IntN(3) {
				excluded := x
				excluded.Time, excluded.Undo = at(from), random.IntN(2) == 0
				add(0.5, &excluded)
			}
		}
	}
}

// randomProfile returns a resource profile: the default, that of events without one, or another.
func randomProfile(random *rand.Rand) *int64 {
	return []*int64{nil, new(int64), new(int64), new(int64(1))}[random.IntN(4)]
}

// randomRegistration configures what the constructor of the context waits for.
func randomRegistration(random *rand.Rand, spark map[string]string) {
	set := func(one int, key string, value any) {
		if random.IntN(one) == 0 {
			spark[key] = fmt.Sprint(value)
		}
	}
	set(2, "spark.dynamicAllocation.enabled", true)
	set(4, "spark.dynamicAllocation.minExecutors", random.IntN(3))
	set(4, "spark.dynamicAllocation.initialExecutors", random.IntN(4))
	set(2, "spark.executor.instances", random.IntN(4))
	set(3, "spark.scheduler.minRegisteredResourcesRatio", []string{"0", "0.3", "1", "7"}[random.IntN(4)])
	set(2, "spark.scheduler.maxRegisteredResourcesWaitingTime", []string{"20", "30ms", "1min", "35000us"}[random.IntN(4)])
}

func described(events []eventlog.Event) (text string) {
	for _, e := range events {
		fields, err := json.Marshal(e)
		text += fmt.Sprintf("\n%T%s%v", e, fields, err)
	}
	return text
}

// randomOperations adds operations of Spark Connect, which may end several times.
func randomOperations(random *rand.Rand, from int64, add func(float64, eventlog.Event)) {
	for id := range random.Int64N(3) {
		const session = "00000000-0000-4000-8000-000000000000"
		tag := fmt.Sprintf("SparkConnect_OperationTag_User_u_Session_%s_Operation_%08d-0000-4000-8000-000000000000", session, id)
		add(0.2, &eventlog.SessionClosed{ID: session, Time: from + random.Int64N(60)})
		start := from + random.Int64N(30)
		add(0.95, &eventlog.OperationStarted{Tag: tag, Time: start})
		add(0.8, &eventlog.OperationEnded{Tag: tag, Time: start + random.Int64N(30)})
		add(0.5, &eventlog.OperationEnded{Tag: tag, Time: start + 30 + random.Int64N(9)})
	}
}
