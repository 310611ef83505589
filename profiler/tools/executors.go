package tools

import (
	"context"
	"maps"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// ExecutorsIn selects applications, and how their executors are grouped.
type ExecutorsIn struct {
	Which
	Page

	Executors bool `json:"executors,omitempty" jsonschema:"also the executors themselves, those with most failed tasks and garbage collection first"`
}

// Executors is a group of executors, or one of them.
type Executors struct {
	ApplicationID string   `json:"application_id,omitempty" jsonschema:"absent if all rows are of one application"`
	Group         string   `json:"group" jsonschema:"all, host NAME, removed REASON, or executor ID on HOST"`
	Executors     int      `json:"executors"`
	Cores         int64    `json:"cores"`
	CoreHours     *float64 `json:"core_hours,omitempty" jsonschema:"cores times the time from registration to removal; absent if one has no known end"`
	IdleShare     *float64 `json:"idle_share,omitempty" jsonschema:"of the core-hours in which no task ran, 0 to 1"`
	PeakHeap      *float64 `json:"peak_heap_ratio,omitempty" jsonschema:"largest heap / spark.executor.memory"`
	PeakRSS       *int64   `json:"peak_rss_bytes,omitempty" jsonschema:"largest resident memory of JVM, Python and others, where Spark measures it"`
	GCShare       *float64 `json:"gc_share,omitempty" jsonschema:"garbage collection / time of tasks"`
	Tasks         int64    `json:"num_tasks"`
	FailedTasks   int64    `json:"num_failed_tasks"`
	Lost          int      `json:"lost" jsonschema:"removed although they were wanted: lost, killed, preempted or out of memory"`
	Reason        string   `json:"remove_reason,omitempty" jsonschema:"of one executor"`
}

// group adds up executors.
type group struct {
	Executors

	lifetime, run, gc float64
	heap, rss         int64
	added             int
}

func (a answers) executors(ctx context.Context, p *progress, in *ExecutorsIn) (Answer[Executors], error) {
	return ofEach(ctx, a, p, in.Which, &in.Page, "executors", func(ctx context.Context, o *opened, rows *page[Executors]) error {
		return addGroups(ctx, p, o, in.Executors, rows)
	})
}

// Kinds of groups, in the order of an answer.
const (
	ofAll = -iota
	ofReasons
	ofHosts
	ofOne
)

func addGroups(ctx context.Context, p *progress, o *opened, single bool, rows *page[Executors]) error {
	found, err := read[tables.Executor](ctx, o.held, "executor_id", "host_port", "total_cores", "total_tasks", "failed_tasks",
		"total_duration", "total_gc_time", "add_time", "remove_time", "remove_reason", "remove_class", "peak_jvm_heap_bytes",
		"peak_process_tree_rss_bytes")
	if err != nil {
		return err
	}
	kinds := map[string]int{"all": ofAll}
	groups := map[string]*group{}
	add := func(name string, kind int, row tables.Executor) {
		if groups[name] == nil {
			groups[name], kinds[name] = &group{Executors: Executors{ApplicationID: o.id, Group: name}}, kind
		}
		groups[name].add(o, row)
	}
	for _, row := range found {
		if driver(row.ExecutorID) {
			continue
		}
		p.row()
		host := name(row.Host())
		add("all", ofAll, row)
		add("host "+host, ofHosts, row)
		if row.RemoveClass != nil {
			add("removed "+*row.RemoveClass, ofReasons, row)
		}
		if single {
			one := "executor " + name(row.ExecutorID) + " on " + host
			add(one, ofOne, row)
			groups[one].Reason = mark(known(row.RemoveReason))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		g := groups[name]
		g.close(o)
		// Within a kind, the groups with most failed tasks and garbage collection come first.
		worst := min(0.9, (float64(g.FailedTasks)+known(g.GCShare))/1e6)
		rows.add(g.Executors, float64(kinds[name])+worst, o.key+name)
	}
	return nil
}

func (g *group) add(o *opened, row tables.Executor) {
	end := row.RemoveTime
	if end == 0 {
		end = max(o.EndTime, o.LastEventTime)
	}
	g.Executors.Executors++
	g.Cores += row.TotalCores
	g.Tasks += row.TotalTasks
	g.FailedTasks += row.FailedTasks
	g.run, g.gc = g.run+float64(row.TotalDuration), g.gc+float64(row.TotalGCTime)
	g.heap, g.rss = max(g.heap, known(row.PeakJVMHeap)), max(g.rss, known(row.PeakProcessTreeRSS))
	if row.AddTime > 0 && end > row.AddTime {
		g.lifetime += float64(row.TotalCores) * float64(end-row.AddTime)
		g.added++
	}
	if tables.IsLoss(known(row.RemoveClass)) {
		g.Lost++
	}
}

func (g *group) close(o *opened) {
	if g.added == g.Executors.Executors && g.lifetime > 0 { // the lives of all are known
		g.CoreHours = new(coreHours(g.lifetime))
		g.IdleShare = new(significant(max(0, 1-g.run/g.lifetime)))
	}
	if g.heap > 0 {
		g.PeakHeap = share(g.heap, known(o.ExecutorMemory))
	}
	if g.rss > 0 {
		g.PeakRSS = new(measured(g.rss))
	}
	g.GCShare = share(g.gc, g.run)
}
