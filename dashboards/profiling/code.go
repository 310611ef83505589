package profiling

import (
	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
)

// flameSize is the height of a flame graph, in grid units.
const flameSize = 14

func code() panel.Row {
	selector := scope.Of(scope.Cluster, scope.App, scope.Executor).Profiles()
	return panel.Row{Title: "Code", Panels: []panel.Panel{
		panel.FlameGraph(panel.Spec{
			Title: "CPU by stack", Unit: panel.UnitNanoseconds, Width: 24, Height: flameSize,
			Shows: "Merged stacks of the chosen executors; the wider a frame, the more CPU time it took. Python's own frames are not there.",
			Bad:   "A wide frame that is not the job's own work: serialization, compression, regular expressions, logging.",
			Next:  "Search for the frame in the job's code, or change the codec or serializer.",
		}, panel.Flame(contract.ProfileCPU, selector)),
		panel.FlameGraph(panel.Spec{
			Title: "Allocations by stack", Unit: panel.UnitBytes, Width: 12, Height: flameSize,
			Shows: "Merged stacks by the memory that they allocated, as sampled.",
			Bad:   "One frame that allocates most, together with a high \"GC share of task time\".",
			Next:  "Reuse objects, or keep the data in Spark's own format: built-in functions in place of UDFs.",
		}, panel.Flame(contract.ProfileAlloc, selector)),
		panel.FlameGraph(panel.Spec{
			Title: "Locks by stack", Unit: panel.UnitNanoseconds, Width: 12, Height: flameSize,
			Shows:            "Merged stacks by the time that threads waited for monitors.",
			Bad:              "A wide frame: tasks of one JVM wait for each other, as in a shared client or a logger.",
			Next:             "Use fewer cores per executor, or make the object local to the task.",
			EmptyWhenHealthy: "Threads wait for each other.",
		}, panel.Flame(contract.ProfileLock, selector)),
	}}
}
