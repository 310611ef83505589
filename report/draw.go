package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Sizes of the drawings, in units of their view boxes: about a pixel each on a laptop.
const (
	width      = 1000.0
	barHeight  = 28.0
	rowHeight  = 16.0
	rowGap     = 4.0
	axisHeight = 22.0
	letter     = 7.0 // width of a letter, at most, in the drawings' font
	margin     = 4.0 // between a bar and its text
)

// box is a rectangle with a text that explains it.
type box struct {
	X, Y, W, H float64
	Class      string
	Text       string // "" if there is no room
	TextX      float64
	Anchor     string
	Inside     bool   // the text is in the rectangle
	Title      string // the whole of it
}

// write places a text in the rectangle, or right or left of it, where there is room.
func (b *box) write(text string) {
	needed := float64(len([]rune(text)))*letter + 2*margin
	b.Text = text
	switch {
	case needed <= b.W:
		b.TextX, b.Anchor, b.Inside = b.X+b.W/2, "middle", true
	case b.X+b.W+needed <= width:
		b.TextX, b.Anchor = b.X+b.W+margin, "start"
	case needed <= b.X:
		b.TextX, b.Anchor = b.X-margin, "end"
	default:
		b.Text = ""
	}
}

// Baseline is how far below the rectangle's top the text stands.
func (b box) Baseline() float64 { return b.H/2 + letter/2 + 1 }

// tick is a time on an axis.
type tick struct {
	X    float64
	Text string
}

// drawing is an SVG picture.
type drawing struct {
	Height float64
	Title  string
	Boxes  []box
	Ticks  []tick
}

// Width is the width of the view box.
func (drawing) Width() float64 { return width }

// classOf is the style of a phase.
func classOf(phase platform.Phase) string { return "phase-" + string(phase) }

// phaseBar draws the shares of the phases side by side.
func (a Application) phaseBar() drawing {
	d := drawing{Height: barHeight, Title: "Phases as shares of the wall clock"}
	x := 0.0
	for _, p := range a.Phases {
		w := p.Share * width
		b := box{X: x, W: w, H: barHeight, Class: classOf(p.Phase), Title: p.Words()}
		if b.write(p.Phase.Word()); !b.Inside {
			b.Text = ""
		}
		d.Boxes = append(d.Boxes, b)
		x += w
	}
	return d
}

// scale maps times to units.
type scale struct {
	from  time.Time
	units float64 // per nanosecond
}

func (a Application) scale() scale {
	wall := a.Wall
	for _, s := range a.spans() {
		wall = max(wall, s.End.Sub(a.Begin()))
	}
	return scale{a.Begin(), width / float64(max(wall, time.Millisecond))}
}

// spans are all that the drawings over time show.
func (a Application) spans() (all []Span) {
	all = append(all, a.Jobs...)
	for _, s := range a.Stages {
		all = append(all, s.Span)
	}
	for _, e := range a.Executors {
		all = append(all, e.Span)
	}
	for _, s := range a.Sessions {
		all = append(all, s.Operations...)
	}
	return all
}

func (s scale) x(at time.Time) float64 { return max(0, float64(at.Sub(s.from))*s.units) }

// axis returns about eight times at round distances.
func (s scale) axis() (ticks []tick) {
	whole := time.Duration(width / s.units)
	steps := []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
		10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour,
	}
	step := steps[len(steps)-1]
	for _, candidate := range steps {
		if whole/candidate <= 8 {
			step = candidate
			break
		}
	}
	for at := time.Duration(0); at <= whole; at += step {
		ticks = append(ticks, tick{float64(at) * s.units, duration(at)})
		if len(ticks) > 100 { // an application of many weeks
			break
		}
	}
	return ticks
}

// rows draws spans below each other. A span without an end lasts until the application's.
func (a Application) rows(title string, spans []Span, class func(i int) string) drawing {
	s := a.scale()
	d := drawing{Title: title, Ticks: s.axis(), Height: axisHeight + float64(len(spans))*(rowHeight+rowGap)}
	for i, of := range spans {
		end := of.End
		if end.IsZero() {
			end = a.Begin().Add(a.Wall)
		}
		b := box{
			X: s.x(of.Start), Y: axisHeight + float64(i)*(rowHeight+rowGap), H: rowHeight, Class: class(i),
			Title: fmt.Sprintf("%s: from %s on, for %s", of.Label, duration(of.Start.Sub(a.Begin())), duration(end.Sub(of.Start))),
		}
		b.W = max(1, s.x(end)-b.X)
		b.write(of.Label)
		d.Boxes = append(d.Boxes, b)
	}
	return d
}

// operations draws what the clients of a Spark Connect server asked for, session by session.
func (a Application) operations() drawing {
	var spans []Span
	for _, session := range a.Sessions {
		for _, operation := range session.Operations {
			operation.Label = session.title() + ": " + operation.Label
			spans = append(spans, operation)
		}
	}
	return a.rows("Operations over time, by session", spans, func(i int) string {
		if spans[i].Failed {
			return "failed"
		}
		return "job"
	})
}

// title is the session's user and what tells its id from others.
func (s Session) title() string {
	const digits = 8
	return s.User + " " + s.ID[:min(len(s.ID), digits)]
}

// gantt draws jobs, and below them the stages in the order of their starts.
func (a Application) gantt() drawing {
	spans := slices.Clone(a.Jobs)
	jobs := len(spans)
	stages := slices.Clone(a.Stages)
	slices.SortStableFunc(stages, func(x, y Stage) int { return x.Start.Compare(y.Start) })
	for _, s := range stages {
		spans = append(spans, s.Span)
	}
	return a.rows("Jobs and stages over time", spans, func(i int) string {
		switch {
		case spans[i].Failed:
			return "failed"
		case i < jobs:
			return "job"
		}
		return "stage"
	})
}

// lives draws the executors over time.
func (a Application) lives() drawing {
	var spans []Span
	for _, e := range a.Executors {
		spans = append(spans, e.Span)
	}
	return a.rows("Executors over time", spans, func(i int) string {
		if spans[i].Failed {
			return "failed"
		}
		return "executor"
	})
}

// history draws the wall clock of the runs of the same name, the latest last.
func (a Application) history() drawing {
	d := drawing{Title: "Wall clock of runs of the same name", Height: float64(len(a.Runs)) * (rowHeight + rowGap)}
	longest := time.Millisecond
	for _, r := range a.Runs {
		longest = max(longest, r.Wall)
	}
	for i, r := range a.Runs {
		class := "executor"
		if r.Failed {
			class = "failed"
		} else if r.This {
			class = "this"
		}
		w := max(1, float64(r.Wall)/float64(longest)*width*0.6)
		text := r.Started.UTC().Format("2006-01-02 15:04") + ", " + duration(r.Wall) + ", " + r.Outcome
		if r.This {
			text += " (this one)"
		}
		d.Boxes = append(d.Boxes, box{
			Y: float64(i) * (rowHeight + rowGap), W: w, H: rowHeight, Class: class, Text: text, TextX: w + margin, Anchor: "start",
			Title: r.ID + ": " + text,
		})
	}
	return d
}
