package schema

import (
	"encoding/json"
	"fmt"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// CheckScheduledSteps checks the steps of a schedule, which are at a path, as those of its cluster.
func (c Config) CheckScheduledSteps(l *violation.List, key, at string, steps []Step) {
	room := platform.MaxScheduledName(key)
	named := map[string]bool{}
	for i, step := range steps {
		path := pathOf(at, i) + ".name"
		l.Require(len([]rune(step.Name)) <= room, path, step.Name,
			fmt.Sprintf("must be at most %d characters: the schedule's key and time follow it", room), "shorten it")
		l.Require(!named[step.Name], path, step.Name,
			"must be the name of one step: two of a name are a run that was delivered twice", "rename one")
		named[step.Name] = true
	}
	text := rules["scheduleSteps"].Text
	l.Require(len(steps) > 0, at, len(steps), text, "name at least one")
	size := inputSize(steps)
	l.Require(size <= MaxScheduleInput, at, size, text, "read long arguments from a file")
	cluster, found := c.Clusters[c.Schedules[key].Cluster]
	if !found {
		return
	}
	settings, on := cluster.settings(ClusterPath(c.Schedules[key].Cluster)), cluster.machines()
	for i, step := range steps {
		step.checkProgram(l, pathOf(at, i))
		cluster.checkSubmitted(l, pathOf(at, i)+".args", step.Args, settings, on)
	}
	cluster.Steps = steps
	cluster.checkSteps(l, at)
}

// inputSize returns how many bytes the input of the call has, or a few more: its members are longer than the
// keys of a step.
func inputSize(steps []Step) int {
	const more = 200 // of each step: names of members, the schedule's key and time
	text, err := json.Marshal(steps)
	if err != nil {
		return 0 // only of values that JSON lacks, which no configuration holds
	}
	return len(text) + more*len(steps)
}
