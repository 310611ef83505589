package schedule

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Expression is a parsed cron or rate expression.
type Expression struct {
	every time.Duration // of a rate; 0 for cron
	cron  cron
}

// Rate reports whether the expression is a rate, which counts from a start.
func (e Expression) Rate() bool { return e.every > 0 }

// Limits of expressions (Scheduler API, CreateSchedule; User Guide, "Cron-based schedules").
const (
	maxText   = 256
	firstYear = 1970
	lastYear  = 2199
)

// Parse reads "cron(minutes hours day-of-month month day-of-week year)" or "rate(value unit)".
// Its errors name the field, its value, and what it may be.
func Parse(text string) (Expression, error) {
	if len(text) > maxText {
		return Expression{}, fmt.Errorf("%d characters; at most %d are allowed", len(text), maxText)
	}
	kind, rest, opened := strings.Cut(text, "(")
	inner, closed := strings.CutSuffix(rest, ")")
	if !opened || !closed {
		return Expression{}, errors.New("neither cron(fields) nor rate(value unit)")
	}
	switch kind {
	case "cron":
		c, err := parseCron(inner)
		return Expression{cron: c}, err
	case "rate":
		every, err := parseRate(inner)
		return Expression{every: every}, err
	case "at":
		return Expression{}, errors.New("at is a one-time schedule; use cron with the year")
	default:
		return Expression{}, fmt.Errorf("%q is neither cron nor rate", kind)
	}
}

// parseRate accepts the singular and the plural of a unit for any value, as the API does.
func parseRate(text string) (time.Duration, error) {
	const day = 24 * time.Hour
	units := map[string]time.Duration{
		"minute": time.Minute, "minutes": time.Minute, "hour": time.Hour, "hours": time.Hour, "day": day, "days": day,
	}
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return 0, fmt.Errorf("rate(%s) must have a value and a unit, as in rate(2 hours)", text)
	}
	unit, known := units[fields[1]]
	if !known {
		return 0, fmt.Errorf("unit %q must be minutes, hours or days", fields[1])
	}
	most := int(100 * 365 * day / unit) // a century: longer ones never start again
	n, err := strconv.Atoi(fields[0])
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("value %q must be a whole number from 1 to %d", fields[0], most)
	}
	return time.Duration(n) * unit, nil
}

// Schedule is an expression in its time zone, with the times between which it starts anything. The zero
// Start and End are no limits; a rate counts from Start, which it needs.
type Schedule struct {
	Expression Expression
	Zone       *time.Location
	Start, End time.Time
}

// New returns the schedule of an expression in a zone, both as EventBridge has them. The zero start and end are no
// limits.
func New(expression, zone string, start, end time.Time) (Schedule, error) {
	e, err := Parse(expression)
	if err != nil {
		return Schedule{}, fmt.Errorf("read expression: %w", err)
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		return Schedule{}, fmt.Errorf("read time zone: %w", err)
	}
	return Schedule{Expression: e, Zone: location, Start: start, End: end}, nil
}

// Next returns the first start after a time, and whether there is one.
func (s Schedule) Next(after time.Time) (time.Time, bool) {
	if !s.Start.IsZero() && after.Before(s.Start) {
		after = s.Start.Add(-1)
	}
	var next time.Time
	if every := s.Expression.every; s.Expression.Rate() {
		next = s.Start
		if passed := after.Sub(s.Start); passed >= 0 {
			next = after.Add(every - passed%every)
		}
	} else {
		var found bool
		if next, found = s.Expression.cron.next(after, s.Zone); !found {
			return time.Time{}, false
		}
	}
	if !s.End.IsZero() && next.After(s.End) {
		return time.Time{}, false
	}
	return next, true
}

// LongestGap returns the longest time without a start between two times, by all the schedules together: from
// the first time to the first start, between two starts, and from the last one to the second time. It is the
// whole time if nothing starts.
func LongestGap(schedules []Schedule, from, until time.Time) time.Duration {
	var longest time.Duration
	for at := from; ; {
		next := until
		for _, s := range schedules {
			if t, found := s.Next(at); found && t.Before(next) {
				next = t
			}
		}
		longest = max(longest, next.Sub(at))
		if !next.Before(until) {
			return longest
		}
		at = next
	}
}

// ShortestGap returns the shortest time between two starts that lie between two times; 0 if there is no second one.
func (s Schedule) ShortestGap(from, until time.Time) time.Duration {
	var shortest time.Duration
	last, found := s.Next(from)
	for found {
		next, more := s.Next(last)
		if !more || next.After(until) {
			break
		}
		if gap := next.Sub(last); shortest == 0 || gap < shortest {
			shortest = gap
		}
		last = next
	}
	return shortest
}
