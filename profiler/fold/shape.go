package fold

import (
	"encoding/hex"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
)

// planShapes are the shapes of an application's plans. Runs of the same program have the same
// ones, however much data they read.
type planShapes struct {
	distinct map[string]bool
	unknown  bool // for a plan at least
}

func (s *planShapes) add(shape *string) {
	switch {
	case shape == nil:
		s.unknown = true
	case s.distinct == nil:
		s.distinct = map[string]bool{*shape: true}
	default:
		s.distinct[*shape] = true
	}
}

// together identifies the set of shapes, however often each occurs: a program may repeat a
// query for each of its inputs. It returns nil if there is none, or if one is unknown.
func (s *planShapes) together() *string {
	if s.unknown || len(s.distinct) == 0 {
		return nil
	}
	return new(hashOf(sorted(s.distinct)...))
}

// shapeOf identifies the operators of a plan and how they are connected. Adaptive execution
// decides by the data how inputs are exchanged and joined: this does not count, nor do digits
// in the names of tables. It returns nil if there is no plan.
func (a *attempt) shapeOf(plan *planGraph) *string {
	if plan == nil || len(plan.nodes) == 0 {
		return nil
	}
	w := shapeWalk{nodes: map[int64]string{}, inputs: map[int64][]int64{}, known: map[int64][]string{}}
	feeds := map[int64]bool{}
	for _, e := range plan.edges {
		w.inputs[e.To] = append(w.inputs[e.To], e.From)
		feeds[e.From] = true
	}
	var roots []int64
	for i := range plan.nodes {
		n := &plan.nodes[i]
		w.nodes[n.id] = operatorOf(a.text(strings.TrimSpace(n.name)))
		if !feeds[n.id] {
			roots = append(roots, n.id)
		}
	}
	slices.Sort(roots)
	var all []string
	for _, root := range roots {
		all = append(all, w.shapes(root)...)
	}
	return new(hashOf(all...))
}

// shapeWalk visits each operator of a plan once.
type shapeWalk struct {
	nodes  map[int64]string
	inputs map[int64][]int64
	known  map[int64][]string
}

// shapes returns the shape of an operator with its inputs; those of the inputs if the operator
// does not count.
func (w *shapeWalk) shapes(id int64) []string {
	if known, visited := w.known[id]; visited {
		return known
	}
	w.known[id] = nil // no operator is its own input, whatever a server answers
	var below []string
	for _, input := range w.inputs[id] {
		below = append(below, w.shapes(input)...)
	}
	if name := w.nodes[id]; name != "" || len(below) > 1 { // else what a server answers may double with each operator
		below = []string{hashOf(append([]string{name}, below...)...)}
	}
	w.known[id] = below
	return below
}

// operatorOf returns an operator's name as it counts for the shape of a plan; "" if the operator
// does not count.
func operatorOf(name string) string {
	switch name {
	case "AdaptiveSparkPlan", "AQEShuffleRead", "CustomShuffleReader", // adaptive execution
		"BroadcastQueryStage", "ShuffleQueryStage", "TableCacheQueryStage", "ResultQueryStage",
		"Exchange", "BroadcastExchange", "ReusedExchange", "Sort", // how a join, or a window, has its inputs
		"InputAdapter", "ColumnarToRow", "RowToColumnar", "ReusedSubquery":
		return ""
	case "SortMergeJoin", "ShuffledHashJoin", "BroadcastHashJoin":
		return "Join"
	}
	if strings.HasPrefix(name, wholeStageCodegen) {
		return ""
	}
	return WithoutDigits(name)
}

// WithoutDigits returns a name with each number in it replaced by #: dates and numbers in the
// names of applications and tables differ from run to run.
func WithoutDigits(name string) string {
	var b strings.Builder
	digits := false
	for _, r := range name {
		if digit := unicode.IsDigit(r); !digit || !digits {
			if digits = digit; digit {
				r = '#'
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hashOf returns the FNV-1a hash of texts as 16 hexadecimal digits.
func hashOf(texts ...string) string {
	sum := fnv.New64a()
	for _, text := range texts {
		_, _ = sum.Write([]byte(text)) // it never fails
		_, _ = sum.Write([]byte{0})
	}
	return hex.EncodeToString(sum.Sum(nil))
}
