package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cron has the values that each field allows, in ascending order, and the rule of days.
type cron struct {
	minutes, hours, months, years []int
	days                          func(time.Time) bool // of a date at midnight UTC
}

// field is a field of a cron expression.
type field struct {
	name        string
	first, last int
	names       []string // of the values from first on
}

func months() []string {
	return []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
}

func weekdays() []string { return []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"} }

func parseCron(text string) (cron, error) {
	const fields = 6
	f := strings.Fields(text)
	if len(f) != fields {
		return cron{}, fmt.Errorf("cron(%s) has %d fields; it must have %d: minutes, hours, day of month, month, day of week, year",
			text, len(f), fields)
	}
	var c cron
	var errs [5]error
	c.minutes, errs[0] = field{"minutes", 0, 59, nil}.parse(f[0])
	c.hours, errs[1] = field{"hours", 0, 23, nil}.parse(f[1])
	c.days, errs[2] = parseDays(f[2], f[4])
	c.months, errs[3] = field{"month", 1, 12, months()}.parse(f[3])
	c.years, errs[4] = field{"year", firstYear, lastYear, nil}.parse(f[5])
	return c, errors.Join(errs[:]...)
}

// parse reads a list of values, ranges and increments.
func (f field) parse(text string) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		values, err := f.part(part)
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", f.name, text, err)
		}
		out = append(out, values...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// part reads one entry of a list. A range whose end is below its start continues at the field's
// first value: 20-2 of hours is 20 to 23 and 0 to 2.
func (f field) part(text string) ([]int, error) {
	span, increment, stepped := strings.Cut(text, "/")
	step := 1
	if stepped {
		n, err := strconv.Atoi(increment)
		if err != nil || n < 1 || n > f.last {
			return nil, fmt.Errorf("increment %q must be a whole number from 1 to %d", increment, f.last)
		}
		step = n
	}
	from, to := f.first, f.last
	if span != "*" {
		low, high, ranged := strings.Cut(span, "-")
		var err error
		if from, err = f.value(low); err != nil {
			return nil, err
		}
		switch {
		case ranged:
			if to, err = f.value(high); err != nil {
				return nil, err
			}
		case !stepped:
			to = from
		}
	}
	if to < from {
		to += f.last - f.first + 1
	}
	var out []int
	for v := from; v <= to; v += step {
		out = append(out, f.first+(v-f.first)%(f.last-f.first+1))
	}
	return out, nil
}

func (f field) value(text string) (int, error) {
	if i := slices.Index(f.names, strings.ToUpper(text)); i >= 0 {
		return f.first + i, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < f.first || n > f.last {
		expected := fmt.Sprintf("%d to %d", f.first, f.last)
		if f.names != nil {
			expected += fmt.Sprintf(", or %s to %s", f.names[0], f.names[len(f.names)-1])
		}
		return 0, fmt.Errorf("%q must be %s", text, expected)
	}
	return n, nil
}

// next returns the first time after another at which the expression is true.
func (c cron) next(after time.Time, zone *time.Location) (time.Time, bool) {
	local := after.In(zone)
	// A clock change may put the same date's times before and after midnight.
	date := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC).AddDate(0, 0, -1)
	for ; date.Year() <= lastYear; date = date.AddDate(0, 0, 1) {
		if !slices.Contains(c.years, date.Year()) {
			later, found := slices.BinarySearch(c.years, date.Year())
			if !found && later == len(c.years) {
				return time.Time{}, false
			}
			date = time.Date(c.years[later], time.January, 1, 0, 0, 0, 0, time.UTC)
		}
		if !c.onDate(date) {
			continue
		}
		if t, found := c.nextOn(date, after, zone); found {
			return t, true
		}
	}
	return time.Time{}, false
}

func (c cron) onDate(date time.Time) bool {
	return slices.Contains(c.years, date.Year()) && slices.Contains(c.months, int(date.Month())) && c.days(date)
}

// nextOn returns the first time after another on one date.
func (c cron) nextOn(date, after time.Time, zone *time.Location) (time.Time, bool) {
	const change = 3 * time.Hour // more than a clock is put back
	passed := shown(after.In(zone)).Add(-change)
	for _, hour := range c.hours {
		for _, minute := range c.minutes {
			clock := date.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
			if clock.Before(passed) {
				continue
			}
			if t, exists := instant(clock, zone); exists && t.After(after) {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// instant returns when a zone's clock shows what clock shows in UTC: the earlier time of two, and
// false for none.
func instant(clock time.Time, zone *time.Location) (time.Time, bool) {
	const day = 24 * time.Hour // more than any change
	var found time.Time
	for _, near := range []time.Time{clock.Add(-day), clock.Add(day)} {
		_, offset := near.In(zone).Zone()
		t := clock.Add(-time.Duration(offset) * time.Second).In(zone)
		if shown(t).Equal(clock) && (found.IsZero() || t.Before(found)) {
			found = t
		}
	}
	return found, !found.IsZero()
}

// shown returns what a local clock shows, as a time in UTC.
func shown(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}
