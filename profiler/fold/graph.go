package fold

import (
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/history"
)

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
