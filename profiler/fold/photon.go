package fold

import (
	"maps"
	"math"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/photon"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// mostPhotonOperators bounds the kinds of operators of an application; the rest are one kind.
const (
	mostPhotonOperators = 200
	otherOperators      = "others"
)

// photonTally adds up how much of an application, an execution or a kind of operators Photon runs.
type photonTally struct {
	operators   int64
	time        map[photon.Support]int64 // microseconds: sums do not depend on the order of what is added
	counts      map[photon.Support]int64 // operators
	approximate bool
	yes, nodes  int64 // of the notebook's count
}

func newPhotonTally() *photonTally {
	return &photonTally{time: map[photon.Support]int64{}, counts: map[photon.Support]int64{}}
}

func (t *photonTally) add(support photon.Support, millis float64, approximate bool) {
	t.operators++
	t.counts[support]++
	t.time[support] += int64(math.Round(micros * millis))
	t.approximate = t.approximate || approximate
}

// row returns a row of the table, without what says what it is of.
func (t *photonTally) row(id tables.Attempt) *tables.PhotonAnalysis {
	row := &tables.PhotonAnalysis{Attempt: id, Operators: &t.operators, Approximate: &t.approximate}
	if t.nodes > 0 {
		row.JobPhotonPerc = new(100 * float64(t.yes) / float64(t.nodes))
	}
	shares, whole := t.time, t.time[photon.Supported]+t.time[photon.Unsupported]+t.time[photon.Unknown]
	row.TimeMillis = new(float64(whole) / micros)
	if whole == 0 { // no operator took any time: each counts alike
		shares, whole = t.counts, t.operators
	}
	share := func(s photon.Support) *float64 { return new(float64(shares[s]) / float64(whole)) }
	if whole > 0 {
		row.SupportedShare, row.UnsupportedShare, row.UnknownShare = share(photon.Supported), share(photon.Unsupported), share(photon.Unknown)
	}
	return row
}

const micros = 1e3 // in a millisecond

// photonUse adds up how much of an application Photon runs.
type photonUse struct {
	all   *photonTally
	kinds map[string]*photonTally
}

// classified is what Databricks publishes of an operator.
type classified struct {
	kind    string
	support photon.Support
}

// execution writes the row of an execution, and adds its operators to those of the application.
func (u *photonUse) execution(a *attempt, row *tables.SQL, plan *planGraph, value func(planMetric) (*int64, string)) error {
	if plan == nil || len(plan.nodes) == 0 {
		return nil
	}
	if u.all == nil {
		u.all, u.kinds = newPhotonTally(), map[string]*photonTally{}
	}
	of := newPhotonTally()
	operators := make([]classified, len(plan.nodes))
	for i := range plan.nodes {
		name := plan.nodes[i].name
		operators[i].kind, operators[i].support = photon.Classify(name)
		of.nodes++
		if photon.Notebook(name) {
			of.yes++
		}
	}
	u.all.nodes += of.nodes
	u.all.yes += of.yes
	duration := int64(0)
	if row.DurationMillis != nil {
		duration = *row.DurationMillis
	}
	weights, approximate := weightsOf(plan, operators, value, duration)
	for i := range plan.nodes {
		kind, support := operators[i].kind, operators[i].support
		if support == photon.None {
			continue
		}
		if u.kinds[kind] == nil && len(u.kinds) >= mostPhotonOperators {
			kind = otherOperators
		}
		if u.kinds[kind] == nil {
			u.kinds[kind] = newPhotonTally()
		}
		for _, t := range []*photonTally{of, u.all, u.kinds[kind]} {
			t.add(support, weights[i], approximate[i])
		}
	}
	written := of.row(a.key())
	written.SQLID = &row.SQLID
	return a.put(written)
}

// close writes the rows of the application and of the kinds of its operators.
func (u *photonUse) close(a *attempt) error {
	if u.all == nil {
		return nil
	}
	if err := a.put(u.all.row(a.key())); err != nil {
		return err
	}
	for _, kind := range slices.Sorted(maps.Keys(u.kinds)) {
		row := u.kinds[kind].row(a.key())
		row.Operator, row.JobPhotonPerc = &kind, nil
		if err := a.put(row); err != nil {
			return err
		}
	}
	return nil
}

// weightsOf returns how much time each operator of a plan took, in milliseconds. An operator has
// the longest of its own times; what is left of the duration of its WholeStageCodegen is divided
// evenly among the operators within. Where Spark reports no times, the operators share the duration
// of the execution evenly. Shares are approximate.
func weightsOf(
	plan *planGraph, of []classified, value func(planMetric) (*int64, string), duration int64,
) (weights []float64, approximate []bool) {
	weights, approximate = make([]float64, len(plan.nodes)), make([]bool, len(plan.nodes))
	around, inside, total := map[int64]float64{}, map[int64][]int{}, 0.0
	for i := range plan.nodes {
		n := &plan.nodes[i]
		took := longest(n, value)
		if number := codegenNumber(n.name); number != nil {
			around[*number] = took
			continue
		}
		if weights[i] = took; n.codegen != nil {
			inside[*n.codegen] = append(inside[*n.codegen], i)
		}
	}
	for number, operators := range inside {
		left := around[number]
		for _, i := range operators {
			left -= weights[i]
		}
		if left > 0 {
			for _, i := range operators {
				weights[i] += left / float64(len(operators))
				approximate[i] = len(operators) > 1
			}
		}
	}
	for _, w := range weights {
		total += w
	}
	if total > 0 {
		return weights, approximate
	}
	n := 0
	for i := range of {
		if of[i].support != photon.None {
			n++
		}
	}
	for i := range of {
		if of[i].support != photon.None {
			weights[i], approximate[i] = float64(duration)/float64(n), true
		}
	}
	return weights, approximate
}

// longest returns the longest of an operator's times, in milliseconds; 0 if it has none.
func longest(n *planNode, value func(planMetric) (*int64, string)) (millis float64) {
	for _, m := range n.metrics {
		if m.kind != "timing" && m.kind != "nsTiming" {
			continue
		}
		total, _ := value(m)
		if total == nil {
			continue
		}
		took := float64(*total)
		if m.kind == "nsTiming" {
			took /= 1e6
		}
		millis = max(millis, took)
	}
	return millis
}
