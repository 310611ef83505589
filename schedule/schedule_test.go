package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schedule"
)

const layout = "Mon 2006-01-02 15:04"

func in(t *testing.T, text, zone string) schedule.Schedule {
	t.Helper()
	e, err := schedule.Parse(text)
	require.NoError(t, err, text)
	z, err := time.LoadLocation(zone)
	require.NoError(t, err)
	return schedule.Schedule{Expression: e, Zone: z}
}

// following returns the starts after a local time, in the zone.
func following(t *testing.T, s schedule.Schedule, after string, count int) []string {
	t.Helper()
	last, err := time.ParseInLocation("2006-01-02 15:04", after, s.Zone)
	require.NoError(t, err)
	var out []string
	for range count {
		next, found := s.Next(last)
		if !found {
			return append(out, "none")
		}
		out, last = append(out, next.In(s.Zone).Format(layout)), next
	}
	return out
}

// The examples of AWS's two user guides (EventBridge Scheduler, "Cron-based schedules"; EventBridge,
// "Cron expressions"), with the days that a calendar gives.
func TestExamplesOfTheUserGuides(t *testing.T) {
	for text, want := range map[string][]string{
		"cron(0 10 * * ? *)":              {"Thu 2026-01-01 10:00", "Fri 2026-01-02 10:00"},
		"cron(15 12 * * ? *)":             {"Thu 2026-01-01 12:15"},
		"cron(0 18 ? * MON-FRI *)":        {"Thu 2026-01-01 18:00", "Fri 2026-01-02 18:00", "Mon 2026-01-05 18:00"},
		"cron(0 8 1 * ? *)":               {"Thu 2026-01-01 08:00", "Sun 2026-02-01 08:00"},
		"cron(0/15 * * * ? *)":            {"Thu 2026-01-01 00:15", "Thu 2026-01-01 00:30"},
		"cron(0/10 * ? * MON-FRI *)":      {"Thu 2026-01-01 00:10"},
		"cron(0/5 8-17 ? * MON-FRI *)":    {"Thu 2026-01-01 08:00", "Thu 2026-01-01 08:05"},
		"cron(15 10 ? * 6L 2026-2027)":    {"Fri 2026-01-30 10:15", "Fri 2026-02-27 10:15"},
		"cron(0 9 ? * 2#1 *)":             {"Mon 2026-01-05 09:00", "Mon 2026-02-02 09:00"},
		"cron(0 0 ? * 3#2 *)":             {"Tue 2026-01-13 00:00", "Tue 2026-02-10 00:00"},
		"cron(0 0 L * ? *)":               {"Sat 2026-01-31 00:00", "Sat 2026-02-28 00:00"},
		"cron(0 0 ? * L *)":               {"Sat 2026-01-03 00:00", "Sat 2026-01-10 00:00"},
		"cron(0 0 3W * ? *)":              {"Fri 2026-01-02 00:00", "Tue 2026-02-03 00:00", "Tue 2026-03-03 00:00"},
		"cron(0 0 1W 8 ? *)":              {"Mon 2026-08-03 00:00", "Mon 2027-08-02 00:00"},
		"cron(0 0 31W 5 ? *)":             {"Fri 2026-05-29 00:00", "Mon 2027-05-31 00:00"},
		"cron(30 2 29 FEB ? *)":           {"Tue 2028-02-29 02:30", "Sun 2032-02-29 02:30"},
		"cron(0 12 ? * 5#5 *)":            {"Thu 2026-01-29 12:00", "Thu 2026-04-30 12:00"},
		"cron(0 0 1,15 jan,JUL ? 2026/2)": {"Thu 2026-01-15 00:00", "Wed 2026-07-01 00:00", "Wed 2026-07-15 00:00", "Sat 2028-01-01 00:00"},
		"cron(0 0 1 1 ? 2020)":            {"none"},
		"cron(0 0 30 2 ? *)":              {"none"},
		"cron(0/30 20-2 ? * FRI *)":       {"Fri 2026-01-02 00:00", "Fri 2026-01-02 00:30", "Fri 2026-01-02 01:00"},
		"cron(0 6 ? * SAT-MON *)":         {"Sat 2026-01-03 06:00", "Sun 2026-01-04 06:00", "Mon 2026-01-05 06:00", "Sat 2026-01-10 06:00"},
		"cron(0 0 1 1 ? 2199)":            {"Tue 2199-01-01 00:00", "none"},
		"cron(10-40/15 23 31 12 ? */100)": {"Wed 2070-12-31 23:10", "Wed 2070-12-31 23:25"},
	} {
		require.Equal(t, want, following(t, in(t, text, "UTC"), "2026-01-01 00:00", len(want)), text)
	}
}

// A skipped local time is not run, and a repeated one is run once (Scheduler User Guide, "Daylight
// savings time").
func TestClockChanges(t *testing.T) {
	s := in(t, "cron(30 2 * * ? *)", "America/New_York")
	require.Equal(t, []string{"Sat 2027-03-13 02:30", "Mon 2027-03-15 02:30"}, following(t, s, "2027-03-12 12:00", 2))
	s = in(t, "cron(30 1 * * ? *)", "America/New_York")
	require.Equal(t, []string{"Sat 2027-11-06 01:30", "Sun 2027-11-07 01:30", "Mon 2027-11-08 01:30"}, following(t, s, "2027-11-05 12:00", 3))
	first, _ := s.Next(time.Date(2027, 11, 7, 4, 0, 0, 0, time.UTC))
	require.Equal(t, time.Date(2027, 11, 7, 5, 30, 0, 0, time.UTC), first.UTC(), "the first of both, in summer time")

	from, until := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
	require.Equal(t, []schedule.ClockChange{{"2027-11-07 01:30", false}}, s.ClockChanges(from, until))
	require.Equal(t, []schedule.ClockChange{{"2027-03-14 02:30", true}},
		in(t, "cron(30 2 * * ? *)", "America/New_York").ClockChanges(from, until))
	// Half an hour, in the southern summer.
	require.Equal(t, []schedule.ClockChange{{"2027-04-04 01:45", false}, {"2027-10-03 02:15", true}},
		in(t, "cron(15,45 1,2 * * ? *)", "Australia/Lord_Howe").ClockChanges(from, until))
	require.Empty(t, in(t, "cron(30 2 ? * MON *)", "America/New_York").ClockChanges(from, until), "clocks change on Sundays")
	require.Empty(t, in(t, "cron(30 2 * * ? *)", "UTC").ClockChanges(from, until))
	rate := in(t, "rate(1 hour)", "America/New_York")
	rate.Start = from
	require.Empty(t, rate.ClockChanges(from, until))
}

func TestRatesCountFromTheStart(t *testing.T) {
	s := in(t, "rate(5 hours)", "UTC")
	s.Start = time.Date(2026, 1, 1, 7, 30, 0, 0, time.UTC)
	s.End = time.Date(2026, 1, 1, 17, 30, 0, 0, time.UTC)
	require.Equal(t, []string{"Thu 2026-01-01 07:30", "Thu 2026-01-01 12:30", "Thu 2026-01-01 17:30", "none"},
		following(t, s, "2025-01-01 00:00", 4))
	require.Equal(t, []string{"Thu 2026-01-01 12:30"}, following(t, s, "2026-01-01 07:30", 1))
	daily := in(t, "cron(0 8,9 ? * MON *)", "UTC")
	daily.Start = time.Date(2026, 2, 2, 9, 0, 0, 0, time.UTC)
	require.Equal(t, []string{"Mon 2026-02-02 09:00"}, following(t, daily, "2026-01-01 00:00", 1), "at the start itself, too")
}

func TestRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"0 2 * * *":         "neither cron(fields) nor rate(value unit)",
		"cron(0 2 * * *)":   "cron(0 2 * * *) has 5 fields; it must have 6: minutes, hours, day of month, month, day of week, year",
		"cron(0 2 * * * *)": `day of month "*" and day of week "*": exactly one of them must be ?`,
		"cron(0 2 ? * ? *)": `day of month "?" and day of week "?": exactly one of them must be ?`,
		"cron(60 24 * 13 ? 1969)": "minutes \"60\": \"60\" must be 0 to 59\nhours \"24\": \"24\" must be 0 to 23\n" +
			"month \"13\": \"13\" must be 1 to 12, or JAN to DEC\nyear \"1969\": \"1969\" must be 1970 to 2199",
		"cron(*/0 2 * * ? *)":     `minutes "*/0": increment "0" must be a whole number from 1 to 59`,
		"cron(0 2 ? * 0 *)":       `day of week "0": "0" must be 1 to 7, or SUN to SAT`,
		"cron(0 2 ? * 3#1,6#3 *)": `day of week "3#1,6#3": "1,6#3" after # must be 1 to 5, and the only entry`,
		"cron(0 2 ? * 3#6 *)":     `day of week "3#6": "6" after # must be 1 to 5, and the only entry`,
		"cron(0 2 32W * ? *)":     `day of month "32W": "32" must be 1 to 31`,
		"cron(0 2 ? * XL *)":      `day of week "XL": "X" must be 1 to 7, or SUN to SAT`,
		"rate(0 minutes)":         `value "0" must be a whole number from 1 to 52560000`,
		"rate(200000 days)":       `value "200000" must be a whole number from 1 to 36500`,
		"cron(0 2 ? * 2/2 *)":     `day of week "2/2": must have no increment`,
		"rate(1 week)":            `unit "week" must be minutes, hours or days`,
		"rate(5)":                 "rate(5) must have a value and a unit, as in rate(2 hours)",
		"at(2026-11-20T13:00:00)": "at is a one-time schedule; use cron with the year",
		"daily(1)":                `"daily" is neither cron nor rate`,
	} {
		_, err := schedule.Parse(text)
		require.EqualError(t, err, want, text)
	}
}

// Nights and weekends count, and several schedules fill each other's gaps.
func TestLongestGap(t *testing.T) {
	monday := time.Date(2027, 1, 4, 0, 0, 0, 0, time.UTC)
	week := monday.AddDate(0, 0, 7)
	office := in(t, "cron(0/15 9-17 ? * MON-FRI *)", "UTC")
	require.Equal(t, 54*time.Hour+15*time.Minute, schedule.LongestGap([]schedule.Schedule{office}, monday, week), "from Friday 17:45")
	weekend := in(t, "cron(0 0/6 ? * SAT,SUN *)", "UTC")
	require.Equal(t, 15*time.Hour+15*time.Minute, schedule.LongestGap([]schedule.Schedule{office, weekend}, monday, week), "a night")
	require.Equal(t, 7*24*time.Hour, schedule.LongestGap(nil, monday, week))
	every := in(t, "cron(* * * * ? *)", "America/New_York")
	require.Equal(t, time.Minute, schedule.LongestGap([]schedule.Schedule{every}, monday, week))
}

func TestShortestGap(t *testing.T) {
	monday := time.Date(2027, 1, 4, 0, 0, 0, 0, time.UTC)
	for expression, want := range map[string]time.Duration{
		"cron(0 2,6 * * ? *)": 4 * time.Hour, "cron(0 2 * * ? *)": 24 * time.Hour, "cron(0 2 ? * MON *)": 7 * 24 * time.Hour,
		"cron(0 2 1 1 ? *)": 0, "cron(0 2 * * ? 2020)": 0,
	} {
		require.Equal(t, want, in(t, expression, "UTC").ShortestGap(monday, monday.AddDate(0, 0, 15)), expression)
	}
	dst := time.Date(2027, 3, 13, 0, 0, 0, 0, time.UTC)
	require.Equal(t, 23*time.Hour, in(t, "cron(0 6 * * ? *)", "America/New_York").ShortestGap(dst, dst.AddDate(0, 0, 7)), "a day of 23 hours")
}

// Next agrees with looking at every minute of the clock, around changes of the clock and without.
func TestNextIsTheFirstMinute(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	zones := []string{"UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu"}
	for _, zone := range zones {
		for _, day := range []int{72, 86, 93, 275, 303, 310, 200} { // of 2027
			minutes, hours := random.Perm(60)[:1+random.IntN(3)], random.Perm(24)[:1+random.IntN(6)]
			text := fmt.Sprintf("cron(%s %s * * ? *)", list(minutes), list(hours))
			s := in(t, text, zone)
			from := time.Date(2027, 1, day, 0, 0, 0, 0, time.UTC)
			last := from.Add(-1)
			for _, want := range everyMinute(s.Zone, from, minutes, hours) {
				next, found := s.Next(last)
				require.True(t, found)
				require.Equal(t, want, next.UTC(), "%s in %s", text, zone)
				last = next
			}
		}
	}
}

// everyMinute looks at each minute of three days, and takes each reading of the clock once.
func everyMinute(zone *time.Location, from time.Time, minutes, hours []int) []time.Time {
	seen := map[string]bool{} // a day earlier, too
	var out []time.Time
	for m := from.AddDate(0, 0, -1); m.Before(from.AddDate(0, 0, 3)); m = m.Add(time.Minute) {
		local := m.In(zone)
		shown := local.Format(layout)
		if !m.Before(from) && !seen[shown] && slices.Contains(minutes, local.Minute()) && slices.Contains(hours, local.Hour()) {
			out = append(out, m)
		}
		seen[shown] = true
	}
	return out
}

func list(values []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(values), " ", ","), "[]")
}
