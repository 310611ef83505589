package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

// stackHeight is the height of the largest number of executors.
const stackHeight = 80.0

// phasesOverTime draws the phase of each moment. Moments of one phase are one box.
func (a Application) phasesOverTime() drawing {
	s := a.scale()
	d := drawing{Title: "Phases over time", Ticks: s.axis(), Height: axisHeight + barHeight}
	for i := 0; i < len(a.Moments); {
		first := a.Moments[i]
		until := first.At
		for ; i < len(a.Moments) && a.Moments[i].Phase == first.Phase && !a.Moments[i].At.After(until); i++ {
			until = a.Moments[i].At.Add(a.Every)
		}
		if first.Phase == "" {
			continue
		}
		b := box{X: s.x(first.At), Y: axisHeight, H: barHeight, Class: classOf(first.Phase)}
		b.W = max(0, min(s.x(until), width)-b.X)
		b.Title = fmt.Sprintf("%s: from %s on, for %s", first.Phase.Word(), duration(first.At.Sub(a.Begin())), duration(until.Sub(first.At)))
		if b.write(first.Phase.Word()); !b.Inside {
			b.Text = ""
		}
		d.Boxes = append(d.Boxes, b)
	}
	return d
}

// executorsOverTime draws how many executors were in each state, one state above the other.
func (a Application) executorsOverTime() drawing {
	s, most := a.scale(), a.mostExecutors()
	d := drawing{Title: "Executors by state over time, at most " + count(most), Ticks: s.axis(), Height: axisHeight + stackHeight}
	for _, m := range a.Moments {
		x, bottom := s.x(m.At), axisHeight+stackHeight
		w := max(0, min(s.x(m.At.Add(a.Every)), width)-x)
		title := duration(m.At.Sub(a.Begin())) + ": " + inStates(m)
		for _, state := range platform.ExecutorStates() {
			if n := m.Executors[state]; n > 0 {
				h := n / most * stackHeight
				bottom -= h
				d.Boxes = append(d.Boxes, box{X: x, Y: bottom, W: w, H: h, Class: classOfState(state), Title: title})
			}
		}
	}
	return d
}

// mostExecutors is the largest number of executors of a moment, in all states; 0 if there are none.
func (a Application) mostExecutors() (most float64) {
	for _, m := range a.Moments {
		sum := 0.0
		for _, state := range platform.ExecutorStates() {
			sum += m.Executors[state]
		}
		most = max(most, sum)
	}
	return most
}

// inStates says how many executors were in each state.
func inStates(m Moment) string {
	var parts []string
	for _, state := range platform.ExecutorStates() {
		parts = append(parts, count(m.Executors[state])+" "+state)
	}
	return strings.Join(parts, ", ")
}

func count(n float64) string { return rules.Format(n, rules.Count) }

// stateTime says how much time executors were in a state.
type stateTime struct{ Class, Text string }

// classOfState is the style of a state of executors.
func classOfState(state string) string { return "executors-" + state }

// statesOverall lists the states of executors, with how much time they were in each.
func (a Application) statesOverall() (all []stateTime) {
	total := map[string]time.Duration{}
	for _, m := range a.Moments {
		for state, n := range m.Executors {
			total[state] += time.Duration(n * float64(a.Every))
		}
	}
	for _, state := range platform.ExecutorStates() {
		all = append(all, stateTime{classOfState(state), fmt.Sprintf("%s: %s of executor time", state, duration(total[state]))})
	}
	return all
}
