package fold

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/eventlog"
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
// a metric for an operator that has none. It sorts the metrics by name, as their rows will be:
// rows that come in order need no sort.
func (a *attempt) planRows(id int64, plan *planGraph, value func(planMetric) (*int64, string)) error {
	if plan == nil {
		return nil
	}
	for i := range plan.nodes {
		n := &plan.nodes[i]
		row := &tables.SQLNode{Attempt: a.key(), SQLID: id, NodeID: n.id, NodeName: a.text(strings.TrimSpace(n.name)), CodegenID: n.codegen}
		slices.SortStableFunc(n.metrics, func(a, b planMetric) int {
			return strings.Compare(strings.TrimSpace(a.name), strings.TrimSpace(b.name))
		})
		written := 0
		for _, m := range n.metrics {
			name := strings.TrimSpace(m.name)
			if written > 0 && name == row.Metric {
				continue // the metric is part of the key
			}
			measured, text := value(m)
			if measured == nil && text == "" {
				continue // no value was reported: Spark's REST API omits the metric
			}
			row.Metric, row.MetricType, row.Value, row.Text = name, m.kind, measured, text
			written++
			if err := a.put(row); err != nil {
				return err
			}
		}
		if written > 0 {
			continue
		}
		if err := a.put(row); err != nil {
			return err
		}
	}
	return nil
}

// graphOf returns the graph of a plan as SparkPlanGraph builds it: WholeStageCodegen is a
// cluster of operators, InputAdapter and query stages are left out, and a reused exchange
// or subquery is a single operator. It returns nil if there is no plan.
func graphOf(root *eventlog.PlanNode) *planGraph {
	if root.Name == "" {
		return nil
	}
	b := &graphBuilder{graph: &planGraph{}}
	b.add(root, none, nil)
	return b.graph
}

type graphBuilder struct {
	graph  *planGraph
	shared []sharedNode // exchanges and subqueries
}

type sharedNode struct {
	plan *eventlog.PlanNode
	id   int64
}

// none stands for no operator.
const none = -1

// codegenCluster is the WholeStageCodegen around operators (SparkPlanGraphCluster).
type codegenCluster struct{ number *int64 }

// add is SparkPlanGraph.buildSparkPlanGraphNode.
func (b *graphBuilder) add(plan *eventlog.PlanNode, parent int64, enclosing *codegenCluster) {
	switch name := plan.Name; {
	case strings.HasPrefix(name, wholeStageCodegen):
		b.node(plan, nil)
		b.child(plan, parent, &codegenCluster{codegenNumber(name)})
	case name == "InputAdapter", name == "TableCacheQueryStage":
		b.child(plan, parent, nil)
	case name == "BroadcastQueryStage", name == "ShuffleQueryStage":
		if len(plan.Children) == 0 || !b.reuse(&plan.Children[0], parent) {
			b.child(plan, parent, nil)
		}
	case name == "Subquery" && enclosing != nil:
		b.add(plan, parent, nil)
	case name == "Subquery" && b.reuse(plan, parent):
	case name == "ReusedSubquery":
		b.child(plan, parent, enclosing)
	case name == "ReusedExchange" && len(plan.Children) > 0 && b.reuse(&plan.Children[0], parent):
	default:
		id := b.node(plan, enclosing)
		if strings.Contains(name, "Exchange") || name == "Subquery" {
			b.shared = append(b.shared, sharedNode{plan, id})
		}
		b.edge(id, parent)
		for i := range plan.Children {
			b.add(&plan.Children[i], id, enclosing)
		}
	}
}

func (b *graphBuilder) child(plan *eventlog.PlanNode, parent int64, enclosing *codegenCluster) {
	if len(plan.Children) > 0 {
		b.add(&plan.Children[0], parent, enclosing)
	}
}

func (b *graphBuilder) node(plan *eventlog.PlanNode, enclosing *codegenCluster) int64 {
	n := planNode{id: int64(len(b.graph.nodes)), name: plan.Name}
	if enclosing != nil {
		n.codegen = enclosing.number
	}
	if len(plan.Metrics) > 0 { // one allocation: each new plan of an execution is taken
		n.metrics = make([]planMetric, len(plan.Metrics))
	}
	for i, m := range plan.Metrics {
		n.metrics[i] = planMetric{name: m.Name, kind: m.Type, accumulator: m.Accumulator}
	}
	b.graph.nodes = append(b.graph.nodes, n)
	return n.id
}

func (b *graphBuilder) edge(from, to int64) {
	if to != none {
		b.graph.edges = append(b.graph.edges, history.Edge{From: from, To: to})
	}
}

// reuse adds an edge from the shared operator with the same plan to parent, and reports
// whether there is one.
func (b *graphBuilder) reuse(plan *eventlog.PlanNode, parent int64) bool {
	at := slices.IndexFunc(b.shared, func(s sharedNode) bool { return samePlan(s.plan, plan) })
	if at < 0 {
		return false
	}
	b.edge(b.shared[at].id, parent)
	return true
}

// samePlan is org.apache.spark.sql.execution.SparkPlanInfo.equals.
func samePlan(a, b *eventlog.PlanNode) bool {
	if a.Name != b.Name || a.Text != b.Text || len(a.Children) != len(b.Children) {
		return false
	}
	for i := range a.Children {
		if !samePlan(&a.Children[i], &b.Children[i]) {
			return false
		}
	}
	return true
}
