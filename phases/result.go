package phases

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// resultTask is the type of a task of a job's last stage.
const resultTask = "ResultTask"

// Segment is a stretch of the wall clock in one phase, [From, To) in milliseconds
// since the epoch.
type Segment struct {
	Phase platform.Phase `json:"phase"`
	From  int64          `json:"from"`
	To    int64          `json:"to"`
}

// Result divides an application's wall clock.
type Result struct {
	Begin    int64                    `json:"begin"`  // milliseconds since the epoch
	End      int64                    `json:"end"`    // likewise; without an ApplicationEnd the latest time of any event
	Phases   map[platform.Phase]int64 `json:"phases"` // milliseconds of each; their sum is End-Begin
	Segments []Segment                `json:"segments"`

	// Approximate says that events are missing.
	Approximate bool `json:"approximate"`
	// FirstExecutorWait is how long after ApplicationStart the first executor came, in
	// milliseconds; nil if none did.
	FirstExecutorWait *int64 `json:"firstExecutorWait"`
}

// Seconds returns the seconds of each phase.
func (r Result) Seconds() map[platform.Phase]float64 {
	seconds := map[platform.Phase]float64{}
	for phase, millis := range r.Phases {
		seconds[phase] = float64(millis) / 1000
	}
	return seconds
}

// Result returns the division by what is known so far.
func (e *Engine) Result() Result {
	begin, end := e.bounds()
	r := Result{Begin: begin, End: end, Phases: map[platform.Phase]int64{}, Segments: []Segment{}, Approximate: e.approximate()}
	if e.started && e.firstExecutor != never {
		wait := max(0, e.firstExecutor-e.start)
		r.FirstExecutorWait = &wait
	}
	w := &wall{Engine: e, begin: begin, end: end}
	tasks, writes := w.taskTimes()
	rest := union{}
	rest.add(begin, end)
	for _, label := range []struct {
		phase platform.Phase
		when  union
	}{ // by precedence
		{platform.PhaseWrite, writes},
		{platform.PhaseCompute, tasks},
		{platform.PhaseResourceWait, w.resourceWait()},
		{platform.PhaseSubmit, w.submit()},
		{platform.PhaseIdle, w.idle()},
		{platform.PhaseDriver, union{{begin, end}}},
	} {
		r.Phases[label.phase] = 0
		for _, i := range rest.intersect(label.when) {
			r.Phases[label.phase] += i.to - i.from
			r.Segments = append(r.Segments, Segment{label.phase, i.from, i.to})
		}
		rest = rest.without(label.when)
	}
	slices.SortFunc(r.Segments, func(a, b Segment) int { return int(a.From - b.From) })
	return r
}

// bounds returns the begin and end of the wall clock.
func (e *Engine) bounds() (begin, end int64) {
	begin, end = e.first, e.last
	if begin == never {
		return 0, 0 // no event carried a time
	}
	if e.started {
		begin = e.start
	}
	if e.ended {
		end = e.end
	}
	if e.submitted > 0 && e.submitted < begin {
		begin = e.submitted
	}
	return begin, max(begin, end)
}

// submitTime returns when spark-submit was called, 0 if unknown.
func submitTime(properties map[string]string) int64 {
	millis, err := strconv.ParseInt(properties["spark.app.submitTime"], 10, 64)
	if err != nil {
		return 0
	}
	return millis
}

// approximate tells whether events are missing.
func (e *Engine) approximate() bool {
	if !e.started || !e.ended || e.lost {
		return true
	}
	for key, s := range e.attempts {
		if key.number == 0 && !s.failed && s.tasks > 0 && e.stage(key.stage).successes < s.tasks {
			return true
		}
	}
	return false
}

// shown lists the phases in the order of a line of text. The last two are rare and take part
// only from one percent on.
var shown = []struct {
	phase platform.Phase
	rare  bool
}{
	{platform.PhaseResourceWait, false},
	{platform.PhaseCompute, false},
	{platform.PhaseWrite, false},
	{platform.PhaseDriver, false},
	{platform.PhaseSubmit, true},
	{platform.PhaseIdle, true},
}

// Line says in one line which share of an application's wall clock each phase took:
// "wait 31 % · compute 44 % · write 20 % · driver 5 %". The shares are whole
// percentages with the sum 100. It is "" for an application without any time.
func Line(seconds map[platform.Phase]float64, approximate bool) string {
	shares := percentages(seconds)
	if shares == nil {
		return ""
	}
	var parts []string
	for _, s := range shown {
		if s.rare && shares[s.phase] < 1 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %d %%", s.phase.Word(), shares[s.phase]))
	}
	line := strings.Join(parts, " · ")
	if approximate {
		line += " (approximate)"
	}
	return line
}

// percentages rounds the shares by largest remainder, so that they sum to 100; nil if
// there is nothing to share. Equal remainders go to the phases in the order of a line.
func percentages(seconds map[platform.Phase]float64) map[platform.Phase]int {
	total := 0.0
	for _, phase := range slices.Sorted(maps.Keys(seconds)) { // a fixed order: sums of floats depend on it
		total += max(0, seconds[phase])
	}
	if total <= 0 {
		return nil
	}
	shares, remainders := map[platform.Phase]int{}, map[platform.Phase]float64{}
	left := 100
	var order []platform.Phase
	for _, s := range shown {
		exact := 100 * max(0, seconds[s.phase]) / total
		shares[s.phase] = int(exact)
		remainders[s.phase] = exact - float64(int(exact))
		left -= int(exact)
		order = append(order, s.phase)
	}
	slices.SortStableFunc(order, func(a, b platform.Phase) int { return cmp.Compare(remainders[b], remainders[a]) })
	for _, phase := range order[:min(max(left, 0), len(order))] {
		shares[phase]++
	}
	return shares
}
