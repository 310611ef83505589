package eventlog

// planNode is an operator. Its nocopy fields share the memory of the line: event keeps what
// words returns for them.
type planNode struct {
	Name     string       `json:"nodeName,nocopy"`
	Text     string       `json:"simpleString"`
	Children []planNode   `json:"children"`
	Metrics  []planMetric `json:"metrics"`
}

type planMetric struct {
	Name        string `json:"name,nocopy"`
	Accumulator int64  `json:"accumulatorId"`
	Type        string `json:"metricType,nocopy"`
}

func (j *planNode) node(d *decoder) PlanNode {
	n := PlanNode{Name: d.words.of(j.Name), Text: j.Text, Metrics: d.metrics(j.Metrics)}
	if len(j.Children) > 0 {
		n.Children = make([]PlanNode, len(j.Children))
		for i := range j.Children {
			n.Children[i] = j.Children[i].node(d)
		}
	}
	return n
}

func (d *decoder) metrics(parsed []planMetric) []PlanMetric {
	if len(parsed) == 0 {
		return nil
	}
	metrics := make([]PlanMetric, len(parsed))
	for i, m := range parsed {
		metrics[i] = PlanMetric{Name: d.words.of(m.Name), Accumulator: m.Accumulator, Type: d.words.of(m.Type)}
	}
	return metrics
}

//easyjson:json
type sqlStart struct {
	ID          int64    `json:"executionId"`
	Root        *int64   `json:"rootExecutionId"` // Spark 3.4 and later
	Description string   `json:"description"`
	PlanLength  length   `json:"physicalPlanDescription"`
	Plan        planNode `json:"sparkPlanInfo"`
	Time        int64    `json:"time"`
}

func (j *sqlStart) event(d *decoder) Event {
	return &SQLStart{
		ID: j.ID, Time: j.Time, Root: j.Root, Description: j.Description,
		PlanLength: int64(j.PlanLength), Plan: j.Plan.node(d),
	}
}

//easyjson:json
type sqlPlan struct {
	ID         int64    `json:"executionId"`
	PlanLength length   `json:"physicalPlanDescription"`
	Plan       planNode `json:"sparkPlanInfo"`
}

func (j *sqlPlan) event(d *decoder) Event {
	return &SQLPlan{ID: j.ID, PlanLength: int64(j.PlanLength), Plan: j.Plan.node(d)}
}

//easyjson:json
type sqlMetrics struct {
	ID      int64        `json:"executionId"`
	Metrics []planMetric `json:"sqlPlanMetrics"`
}

func (j *sqlMetrics) event(d *decoder) Event {
	return &SQLMetrics{ID: j.ID, Metrics: d.metrics(j.Metrics)}
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

//easyjson:json
type sqlEnd struct {
	ID      int64  `json:"executionId"`
	Time    int64  `json:"time"`
	Failure string `json:"errorMessage"`
}

func (j *sqlEnd) event(*decoder) Event {
	return &SQLEnd{ID: j.ID, Time: j.Time, Failure: j.Failure}
}
