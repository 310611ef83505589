package phases_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/emr-observatory/emr-observatory/phases"
)

// randomEvents makes a log of up to a hundred milliseconds in which everything may be
// missing.
func randomEvents(random *rand.Rand) (events []phases.Event) {
	at := func(from int64) int64 { return from + random.Int64N(30) }
	add := func(often float64, event phases.Event) {
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
	add(0.95, phases.EnvironmentUpdate{Spark: spark, Command: command})
	add(0.95, phases.ApplicationStart{Time: start, ID: "a"})
	add(0.9, phases.BlockManagerAdded{Time: at(start), Executor: "driver"})
	add(0.8, phases.ApplicationEnd{Time: at(start + 70)})
	randomExecutors(random, start, add)
	for id := range random.Int64N(3) {
		from := at(start)
		root := id
		if id > 0 && random.IntN(3) == 0 {
			root = 0
		}
		add(0.95, phases.SQLStart{ID: id, Root: root, Time: from, Writes: random.IntN(2) == 0})
		add(0.2, phases.SQLPlan{ID: id, Writes: random.IntN(2) == 0})
		end := at(from + 30)
		if random.IntN(3) == 0 {
			end = from + random.Int64N(5) // jobs carry its id after its end
		}
		add(0.9, phases.SQLEnd{ID: id, Time: end})
	}
	task := int64(0)
	for id := range random.Int64N(4) {
		from := at(start + 10)
		stages := []int64{2 * id, 2*id + 1}
		add(0.95, phases.JobStart{ID: id, Time: from, Stages: stages, Execution: random.Int64N(4) - 1})
		add(0.9, phases.JobEnd{ID: id, Time: at(from + 30)})
		for _, stage := range stages {
			attempt := random.Int64N(2)
			submitted := at(from)
			s := phases.Stage{ID: stage, Attempt: attempt, Tasks: 1, Submitted: submitted, Profile: random.Int64N(4) / 3}
			add(0.2, phases.ExecutorExcluded{Time: at(submitted), Executor: fmt.Sprint(random.IntN(3)), ForStage: true, Stage: stage,
				Attempt: attempt})
			add(0.1, phases.ExecutorExcluded{Time: at(submitted), Host: "h0", ForStage: true, Stage: stage, Attempt: attempt})
			add(0.9, phases.StageSubmitted{Stage: s})
			s.Completed = at(submitted + 10)
			add(0.8, phases.StageCompleted{Stage: s})
			for range random.IntN(3) {
				launched := at(submitted)
				v := phases.Task{ID: task, StageID: stage, StageAttempt: attempt, Launched: launched, Executor: fmt.Sprint(random.IntN(3))}
				task++
				add(0.95, phases.TaskStart{Task: v})
				v.Finished = launched + random.Int64N(20)
				end := phases.TaskEnd{Task: v, Type: "ShuffleMapTask", Outcome: phases.Success}
				if stage == stages[1] || random.IntN(4) == 0 {
					end.Type = "ResultTask"
					end.Metrics.RecordsWritten = random.Int64N(2)
				}
				add(0.85, end)
			}
		}
	}
	return events
}

// randomExecutors adds executors on two hosts, and when these are excluded.
func randomExecutors(random *rand.Rand, start int64, add func(often float64, event phases.Event)) {
	at := func(from int64) int64 { return from + random.Int64N(30) }
	for id := range random.Int64N(3) {
		from := at(start)
		host := "h" + fmt.Sprint(id%2)
		add(0.95, phases.ExecutorAdded{Time: from, ID: fmt.Sprint(id), Host: host, Profile: random.Int64N(4) / 3})
		add(0.7, phases.BlockManagerAdded{Time: at(from), Executor: fmt.Sprint(id)})
		add(0.2, phases.BlockManagerAdded{Time: at(from), Executor: fmt.Sprint(id)})
		add(0.5, phases.ExecutorRemoved{Time: at(from + 10), ID: fmt.Sprint(id)})
		for _, x := range []phases.ExecutorExcluded{{Executor: fmt.Sprint(id)}, {Host: host}} {
			for range random.IntN(3) {
				x.Time, x.Undo = at(from), random.IntN(2) == 0
				add(0.5, x)
			}
		}
	}
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

func described(events []phases.Event) (text string) {
	for _, e := range events {
		text += fmt.Sprintf("\n%T%+v", e, e)
	}
	return text
}
