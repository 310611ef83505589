package schedule

import (
	"slices"
	"time"
)

// ClockChange is a local time of a schedule that its zone's clock skips, so that nothing starts, or
// shows twice, so that it starts at the first.
type ClockChange struct {
	Local   string // 2027-03-14 02:00
	Skipped bool   // false: shown twice
}

// ClockChanges returns, for each clock change between two times, the first of the schedule's local
// times that it concerns. Rates have none.
func (s Schedule) ClockChanges(from, until time.Time) []ClockChange {
	if s.Expression.Rate() {
		return nil
	}
	var out []ClockChange
	for t := from.In(s.Zone); ; {
		_, change := t.ZoneBounds()
		if change.IsZero() || change.After(until) || (!s.End.IsZero() && change.After(s.End)) {
			return out
		}
		before, after := shown(change.Add(-1)).Add(1), shown(change)
		skipped := after.After(before)
		if first, found := s.Expression.cron.firstShown(earlier(before, after), later(before, after)); found && !change.Before(s.Start) {
			out = append(out, ClockChange{Local: first.Format("2006-01-02 15:04"), Skipped: skipped})
		}
		t = change
	}
}

// firstShown returns the first minute from one reading of the clock to before another at which the
// expression is true.
func (c cron) firstShown(from, until time.Time) (time.Time, bool) {
	for t := from; t.Before(until); t = t.Add(time.Minute) {
		date := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
		if c.onDate(date) && slices.Contains(c.hours, t.Hour()) && slices.Contains(c.minutes, t.Minute()) {
			return t, true
		}
	}
	return time.Time{}, false
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
