package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// anyDay is the value of the one of the two fields of days that says nothing.
const anyDay = "?"

const daysInWeek = 7

// parseDays reads the fields of days, of which one must be "?".
func parseDays(ofMonth, ofWeek string) (func(time.Time) bool, error) {
	switch {
	case (ofMonth == anyDay) == (ofWeek == anyDay):
		return nil, fmt.Errorf("day of month %q and day of week %q: exactly one of them must be ?", ofMonth, ofWeek)
	case ofWeek == anyDay:
		return parseDaysOfMonth(ofMonth)
	default:
		return parseDaysOfWeek(ofWeek)
	}
}

// parseDaysOfMonth reads values, ranges and increments, or L (the last day), or a W (the weekday next
// to that day in the same month).
func parseDaysOfMonth(text string) (func(time.Time) bool, error) {
	f := field{"day of month", 1, 31, nil}
	if text == "L" {
		return func(date time.Time) bool { return date.Day() == daysIn(date) }, nil
	}
	if day, weekday := strings.CutSuffix(text, "W"); weekday {
		n, err := f.value(day)
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", f.name, text, err)
		}
		return func(date time.Time) bool { return n <= daysIn(date) && date.Day() == nearestWeekday(date, n) }, nil
	}
	days, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	return func(date time.Time) bool { return slices.Contains(days, date.Day()) }, nil
}

// parseDaysOfWeek reads values and ranges, or L (Saturday), 6L (the month's last Friday) or
// 3#2 (its second Tuesday).
func parseDaysOfWeek(text string) (func(time.Time) bool, error) {
	f := field{"day of week", 1, daysInWeek, weekdays()}
	if text == "L" {
		text = weekdays()[daysInWeek-1]
	}
	if day, last := strings.CutSuffix(text, "L"); last {
		n, err := f.value(day)
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", f.name, text, err)
		}
		return func(date time.Time) bool { return weekday(date) == n && date.Day()+daysInWeek > daysIn(date) }, nil
	}
	if day, which, numbered := strings.Cut(text, "#"); numbered {
		const most = 5
		n, err := f.value(day)
		k, notNumber := strconv.Atoi(which)
		if notNumber != nil || k < 1 || k > most {
			err = errors.Join(err, fmt.Errorf("%q after # must be 1 to %d, and the only entry", which, most))
		}
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", f.name, text, err)
		}
		return func(date time.Time) bool { return weekday(date) == n && (date.Day()-1)/daysInWeek == k-1 }, nil
	}
	if strings.Contains(text, "/") {
		return nil, fmt.Errorf("%s %q: must have no increment", f.name, text)
	}
	days, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	return func(date time.Time) bool { return slices.Contains(days, weekday(date)) }, nil
}

// weekday counts from Sunday, which is 1.
func weekday(date time.Time) int { return int(date.Weekday()) + 1 }

func daysIn(date time.Time) int {
	return time.Date(date.Year(), date.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// nearestWeekday returns the day from Monday to Friday that is nearest to a day of the month,
// without leaving the month.
func nearestWeekday(date time.Time, day int) int {
	switch time.Date(date.Year(), date.Month(), day, 0, 0, 0, 0, time.UTC).Weekday() {
	case time.Saturday:
		if day == 1 {
			return day + 2
		}
		return day - 1
	case time.Sunday:
		if day == daysIn(date) {
			return day - 2
		}
		return day + 1
	default:
		return day
	}
}
