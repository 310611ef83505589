package scheduletelemetry

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/emr-observatory/emr-observatory/internal/statefile"
	"github.com/emr-observatory/emr-observatory/status"
)

const (
	keptFile = "schedules.json" // in the folder that outlives the process
	keptFor  = 14 * 24 * time.Hour
	keptRuns = 50 // of a schedule
	// reasonLength bounds what a service said, in characters.
	reasonLength = 300
)

// kept is what the file has.
type kept struct {
	Begun  time.Time        `json:"begun"`
	Count  map[string]int64 `json:"count"` // of runs that did not start, by schedule
	Runs   []status.LostRun `json:"runs"`
	Unsent []status.LostRun `json:"unsent"` // whose spans are to be sent
	Known  map[string]known `json:"known"`  // the schedules of the configuration

	path string
}

// known is a schedule, and since when it is as it is.
type known struct {
	Config status.ScheduleConfig `json:"config"`
	Since  time.Time             `json:"since"`
}

// know keeps since when the schedules are as they are.
func (k *kept) know(schedules []status.ScheduleConfig, now time.Time) error {
	before := k.Known
	k.Known = map[string]known{}
	for _, c := range schedules {
		k.Known[c.Key] = known{c, now}
		if old := before[c.Key]; old.Config == c {
			k.Known[c.Key] = old
		}
	}
	return k.save()
}

func load(folder string) (kept, error) {
	k := kept{Begun: time.Now().UTC(), Count: map[string]int64{}}
	if folder == "" {
		return k, nil
	}
	k.path = filepath.Join(folder, keptFile)
	if err := statefile.Load(k.path, &k); err != nil {
		return k, fmt.Errorf("read runs that did not start: %w; delete the file", err)
	}
	return k, nil
}

// current returns the runs that are kept at a time.
func (k *kept) current(now time.Time) []status.LostRun {
	return slices.DeleteFunc(slices.Clone(k.Runs), func(l status.LostRun) bool { return now.Sub(l.Told) > keptFor })
}

// newest returns the last runs of each schedule that are kept: one schedule does not push out the others' runs.
func newest(runs []status.LostRun) []status.LostRun {
	more := map[string]int{}
	for _, l := range runs {
		more[l.Schedule]++
	}
	return slices.DeleteFunc(runs, func(l status.LostRun) bool {
		more[l.Schedule]--
		return more[l.Schedule] >= keptRuns
	})
}

// add keeps runs, each once: SQS may give a message twice.
func (k *kept) add(runs []status.LostRun, now time.Time) error {
	next := kept{Begun: k.Begun, Count: map[string]int64{}, Unsent: slices.Clone(k.Unsent), Known: k.Known, path: k.path}
	for key, n := range k.Count {
		next.Count[key] = n
	}
	next.Runs = k.current(now)
	for _, l := range runs {
		same := func(other status.LostRun) bool {
			return other.Schedule == l.Schedule && other.Scheduled.Equal(l.Scheduled)
		}
		if !slices.ContainsFunc(next.Runs, same) {
			next.Runs = append(next.Runs, l)
			next.Unsent = append(next.Unsent, l)
			next.Count[l.Schedule]++
		}
	}
	next.Runs, next.Unsent = newest(next.Runs), newest(next.Unsent)
	if err := next.save(); err != nil {
		return err
	}
	*k = next
	return nil
}

func (k *kept) save() error {
	if k.path == "" {
		return nil
	}
	if err := statefile.Save(k.path, k); err != nil {
		return fmt.Errorf("keep runs that did not start: %w", err)
	}
	return nil
}

// keyOf returns the schedule's name at the end of its ARN, which is its key.
func keyOf(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

// reason is one line of what a service said.
func reason(code, message string) string {
	text := strings.Trim(code+": "+message, ": ")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }), " ")
	if long := []rune(text); len(long) > reasonLength {
		text = string(long[:reasonLength]) + "…"
	}
	if text == "" {
		return "EventBridge gives no reason"
	}
	return text
}
