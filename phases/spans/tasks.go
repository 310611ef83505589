package spans

import (
	"cmp"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/phases/redaction"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Of each attempt of a stage these tasks get a span.
const (
	slowTasks   = 5   // the longest
	failedTasks = 20  // the first that fail
	sampleOne   = 100 // one of so many others, by a hash
)

// picked are the tasks of a stage's attempt that get a span.
type picked struct {
	slow    []ended // the longest first
	failed  int
	certain []ended // failed or sampled
}

// ended is a task that ended.
type ended struct {
	eventlog.Task
	outcome, failure string
}

// task keeps a task if it is to have a span. The longest are known only at the end:
// until then a longer one displaces another.
func (b *Builder) task(event *eventlog.TaskEnd) {
	v := ended{event.Task, event.Outcome, event.Failure}
	key := attempt{v.StageID, v.StageAttempt}
	p := b.tasks[key]
	if p == nil {
		p = &picked{}
		b.tasks[key] = p
	}
	if v.outcome == eventlog.ExceptionFailure {
		v.failure = event.Error // with the exceptions that caused it
	}
	if v.failed() {
		const read = 4 * taskMessageLimit // by redaction.Rules.Text; of a trace, most is not kept
		v.failure = strings.Clone(redaction.Cut(causeFirst(v.failure), read))
	}
	switch {
	case v.failed() && p.failed < failedTasks:
		p.failed++
		b.keep(&p.certain, v, &b.failures)
	case v.sampled():
		b.keep(&p.certain, v, &b.kept)
	default:
		at, _ := slices.BinarySearchFunc(p.slow, v, longerFirst)
		if at == slowTasks {
			return
		}
		if len(p.slow) == slowTasks {
			p.slow = p.slow[:slowTasks-1]
			b.kept--
		}
		if b.kept >= platform.SpanBudget {
			b.lost++
			return
		}
		p.slow = slices.Insert(p.slow, at, v)
		b.kept++
	}
}

// keep adds a task to a list, if those counted are fewer than a trace may have.
func (b *Builder) keep(list *[]ended, v ended, count *int) {
	if *count >= platform.SpanBudget {
		b.lost++
		return
	}
	*list = append(*list, v)
	*count++
}

func longerFirst(a, b ended) int {
	return cmp.Or(cmp.Compare(b.Finished-b.Launched, a.Finished-a.Launched), cmp.Compare(a.ID, b.ID))
}

// failed tells a failure from a task that nobody needed any more.
func (t ended) failed() bool { return t.outcome != eventlog.Success && t.outcome != "TaskKilled" }

// sampled decides by a hash of the number, since numbers and partitions go together.
func (t ended) sampled() bool {
	const spread = 0x9e3779b97f4a7c15 // Knuth's multiplicative hash
	return uint64(t.ID+1)*spread>>32%sampleOne == 0
}
