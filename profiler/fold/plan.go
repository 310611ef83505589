package fold

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// planGraph is the plan of a SQL execution. Its operators have the numbers that
// org.apache.spark.sql.execution.ui.SparkPlanGraph gives them.
type planGraph struct {
	nodes []planNode
	edges []history.Edge
}

// planNode is an operator, or a WholeStageCodegen that contains some.
type planNode struct {
	id      int64
	name    string
	codegen *int64 // number of the WholeStageCodegen around it
	metrics []planMetric
}

// planMetric is a metric of an operator. The REST API has only its name and text.
type planMetric struct {
	name        string
	kind        string // sum, size, timing, nsTiming or average
	accumulator int64
	text        string
}

const wholeStageCodegen = "WholeStageCodegen"

// codegenNumber returns the number in the name of a WholeStageCodegen, nil if it has none
// (org.apache.spark.status.api.v1.sql.SqlResource.getWholeStageCodegenId).
func codegenNumber(name string) *int64 {
	digits, ok := strings.CutPrefix(strings.TrimSpace(name), wholeStageCodegen+" (")
	if !ok {
		return nil
	}
	number, err := strconv.ParseInt(strings.TrimSuffix(digits, ")"), 10, 64)
	if err != nil {
		return nil
	}
	return &number
}

// planJSON returns the plan as JSON as in Spark's REST API, without metrics.
func (a *attempt) planJSON(plan *planGraph) string {
	type node struct {
		ID      int64  `json:"nodeId"`
		Name    string `json:"nodeName"`
		Codegen *int64 `json:"wholeStageCodegenId,omitempty"`
	}
	shape := struct {
		Nodes []node         `json:"nodes"`
		Edges []history.Edge `json:"edges"`
	}{[]node{}, []history.Edge{}}
	if plan == nil {
		return compactJSON(shape)
	}
	for _, n := range plan.nodes {
		shape.Nodes = append(shape.Nodes, node{n.id, a.text(strings.TrimSpace(n.name)), n.codegen})
	}
	slices.SortStableFunc(shape.Nodes, func(a, b node) int { return cmp.Compare(b.ID, a.ID) })
	shape.Edges = append(shape.Edges, plan.edges...)
	return compactJSON(shape)
}

// planRows writes a row for each operator's metric that Spark reported, and one row without
// a metric for an operator that has none.
func (a *attempt) planRows(id int64, plan *planGraph, value func(planMetric) (*int64, string)) error {
	if plan == nil {
		return nil
	}
	for i := range plan.nodes {
		n := &plan.nodes[i]
		row := &tables.SQLNode{Attempt: a.key(), SQLID: id, NodeID: n.id, NodeName: a.text(strings.TrimSpace(n.name)), CodegenID: n.codegen}
		seen := map[string]bool{}
		for _, m := range n.metrics {
			row.Metric, row.MetricType = strings.TrimSpace(m.name), m.kind
			if seen[row.Metric] {
				continue // the metric is part of the key
			}
			row.Value, row.Text = value(m)
			if row.Value == nil && row.Text == "" {
				continue // no value was reported: Spark's REST API omits the metric
			}
			seen[row.Metric] = true
			if err := a.put(row); err != nil {
				return err
			}
		}
		if len(seen) > 0 {
			continue
		}
		row.Metric, row.MetricType, row.Value, row.Text = "", "", nil, ""
		if err := a.put(row); err != nil {
			return err
		}
	}
	return nil
}
