package rules

import "fmt"

// Cause is why YARN gave an application no containers while it waited, by the metrics of its
// cluster at that time.
type Cause struct {
	Title  string
	Advice string
	// seconds is PromQL: how long the cause held while applications waited.
	seconds string
}

// Seconds returns for how many seconds the cause held while the applications waited, narrowed
// and within a window as Query.In does. Causes may hold at the same time.
func (c Cause) Seconds(matchers, window string) string { return render(c.seconds, matchers, window) }

// WaitState is the value of spark_phase_state while an application waits for resources: the
// index in platform.Phases.
const WaitState = 2

// causeStep is how often a cause is looked at: as often as YARN's metrics are collected.
const causeStep = "30"

// WaitCauses lists the causes of a wait for resources. Which memory a node has left is in no
// metric: a container too large for any node is what remains when queue and cluster have room.
func WaitCauses() []Cause {
	const (
		pending = `max by (cluster) (queue_metrics_pending_mb{queue="root"}) > 0`
		// Nodes with a label are series of their own. Containers that ask for none may use what is free of them.
		room = `sum by (cluster) (queue_metrics_available_mb{queue="root"})`
		full = `max by (cluster) (sum by (cluster, queue) (queue_metrics_pending_mb{queue!~"root|"}) > 0` +
			` and sum by (cluster, queue) (queue_metrics_available_mb{queue!~"root|"}) <= 0)`
		wanted   = `max by (cluster) (queue_metrics_pending_mb{queue="root"} / queue_metrics_pending_containers{queue="root"})`
		nodes    = `max by (cluster) (cluster_metrics_num_active_n_ms)`
		later    = `max by (cluster) (cluster_metrics_num_active_n_ms offset -5m)`
		noMaster = `max by (cluster) (queue_metrics_apps_pending{queue="root"}) > 0`
	)
	return []Cause{
		{
			Title: "The queue is full, the cluster is not", Advice: "use another queue, or raise the queue's maximum capacity",
			seconds: held(full + " and on (cluster) (" + room + " > 0)"),
		},
		{
			Title: "The cluster is full, and nodes are being added", Advice: "raise the minimum of managed scaling, or start earlier",
			seconds: held(pending + " and on (cluster) (" + room + " < " + wanted + ") and on (cluster) (" + later + " > " + nodes + ")"),
		},
		{
			Title:   "The cluster is full, and no nodes are added",
			Advice:  "raise the maximum of managed scaling, or run fewer applications at a time",
			seconds: held(pending + " and on (cluster) (" + room + " < " + wanted + ") unless on (cluster) (" + later + " > " + nodes + ")"),
		},
		{
			Title: "No node has room for a container of this size", Advice: "ask for smaller executors, or for larger nodes",
			seconds: held(pending + " and on (cluster) (" + room + " >= " + wanted + ") unless on (cluster) (" + full + ")"),
		},
		{
			Title:  "Application masters wait",
			Advice: "raise yarn.scheduler.capacity.maximum-am-resource-percent", seconds: held(noMaster + " and on (cluster) (" + room + " > 0)"),
		},
	}
}

// held counts the seconds in which a condition of the cluster held while an application waited.
func held(condition string) string {
	waiting := fmt.Sprintf(`spark_phase_state{spark_app_id!="",%s} == %d`, scopeMarker, WaitState)
	return "sum " + key + " (count_over_time((" + waiting + " and on (cluster) (" + condition + "))[" + windowMarker + ":" + causeStep +
		"s])) * " + causeStep
}
