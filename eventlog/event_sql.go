package eventlog

// SQLStart is a SQL execution that starts.
//
//easyjson:json
type SQLStart struct {
	ID          int64    `json:"executionId"`
	Root        *int64   `json:"rootExecutionId"`                       // that it is part of, its own id if of none; since Spark 3.4
	Description string   `json:"description"`                           // cut
	PlanLength  int64    `json:"physicalPlanDescription" skim:"length"` // characters of the physical plan's text, uncut
	Plan        PlanNode `json:"sparkPlanInfo"`
	Time        int64    `json:"time"`
	// Modified is what the session is configured with, as far as it differs from the application.
	Modified JobProperties `json:"modifiedConfigs"`
	Tags     []string      `json:"jobTags"` // since Spark 3.5
}

func (j *SQLStart) event(d *decoder) Event {
	j.Plan.share(d.words)
	return j
}

// SQLPlan is a new version of the plan of an execution (adaptive execution).
//
//easyjson:json
type SQLPlan struct {
	ID         int64    `json:"executionId"`
	PlanLength int64    `json:"physicalPlanDescription" skim:"length"`
	Plan       PlanNode `json:"sparkPlanInfo"`
}

func (j *SQLPlan) event(d *decoder) Event {
	j.Plan.share(d.words)
	return j
}

// PlanNode is an operator of a plan (org.apache.spark.sql.execution.SparkPlanInfo). Its
// nocopy fields share the memory of the line until the event is made.
type PlanNode struct {
	Name     string       `json:"nodeName,nocopy"`
	Text     string       `json:"simpleString"` // cut
	Children []PlanNode   `json:"children"`
	Metrics  []PlanMetric `json:"metrics"`
}

// PlanMetric is a metric of an operator.
type PlanMetric struct {
	Name        string `json:"name,nocopy"`
	Accumulator int64  `json:"accumulatorId"`
	Type        string `json:"metricType,nocopy"` // sum, size, timing, nsTiming or average
}

// share replaces names, which many plans have in common, by their kept copies.
func (n *PlanNode) share(kept words) {
	n.Name = kept.of(n.Name)
	for i := range n.Metrics {
		m := &n.Metrics[i]
		m.Name, m.Type = kept.of(m.Name), kept.of(m.Type)
	}
	for i := range n.Children {
		n.Children[i].share(kept)
	}
}

// DriverAccumulators are values of SQL metrics that the driver sets
// (SparkListenerDriverAccumUpdates).
type DriverAccumulators struct {
	Execution int64
	Updates   []Accumulator
}

//easyjson:json
type driverAccumulators struct {
	Execution int64     `json:"executionId"`
	Updates   [][]int64 `json:"accumUpdates"`
}

func (j *driverAccumulators) event(*decoder) Event {
	e := &DriverAccumulators{Execution: j.Execution}
	for _, pair := range j.Updates {
		if len(pair) == 2 {
			e.Updates = append(e.Updates, Accumulator{ID: pair[0], Value: pair[1]})
		}
	}
	return e
}

// SQLEnd is the end of a SQL execution.
//
//easyjson:json
type SQLEnd struct {
	ID      int64  `json:"executionId"`
	Time    int64  `json:"time"`
	Failure string `json:"errorMessage"` // "" if it succeeded; since Spark 3.4
}
