package cost

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/emr-observatory/emr-observatory/schedule"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// What nobody can know before: how long a cluster has work. The output states it.
const (
	workDays     = 22 // of a month
	workHours    = 8  // of such a day
	runHours     = 1  // of a cluster that ends after its steps, which each start runs once
	leastMinutes = 1  // EC2 and EMR bill a minute at least
	minutes      = 60
)

// Duration is a part of a month, in hours.
type Duration float64

func (d Duration) of(hourly facts.MicroUSD) facts.MicroUSD {
	return facts.MicroUSD(math.Round(float64(d) * float64(hourly)))
}

// String writes whole hours without decimals.
func (d Duration) String() string {
	return strconv.FormatFloat(math.Round(float64(d)*10)/10, 'f', -1, 64)
}

// Hours are how long a part of the stack runs in a month.
type Hours struct {
	Least   Duration `json:"least"`
	Typical Duration `json:"typical"`
	Most    Duration `json:"most"`
}

// allMonth is what runs until somebody ends it.
func allMonth() Hours { return Hours{MonthHours, MonthHours, MonthHours} }

// hoursOf returns how long a cluster runs in a month, and what that assumes. A cluster that
// its idle timeout ends is assumed to be started anew on each day of work.
func hoursOf(c schema.Cluster, runs float64) (Hours, string) {
	idle := Duration(c.IdleTimeoutMinutes) / minutes
	switch {
	case c.OfSchedules():
		n := Duration(runs)
		return Hours{min(n*leastMinutes/minutes, MonthHours), min(n*runHours, MonthHours), MonthHours},
			fmt.Sprintf("each of %s scheduled runs starts one, which ends after its steps: typical is %d hour each, at most until the next run, "+
				"most is one cluster without end", n, runHours)
	case !c.KeepAlive:
		return Hours{Duration(leastMinutes) / minutes, runHours, MonthHours},
			fmt.Sprintf("ends after its steps: typical is one run of %d hour, most is without end", runHours)
	case idle > 0:
		typical := min(MonthHours, workDays*(workHours+idle))
		return Hours{min(idle, MonthHours), typical, MonthHours}, fmt.Sprintf(
			"ends after %d minutes without work: typical is %d days of %d hours of work and one timeout each, least is one start without work, "+
				"most is work without end, as of a stream", c.IdleTimeoutMinutes, workDays, workHours)
	}
	return allMonth(), fmt.Sprintf("runs until somebody ends it: %d hours", MonthHours)
}

// runsOf returns how many runs a month the schedules of a cluster have that are enabled: those of a year, whatever the
// dates on which they begin and end, so that the estimate is the same on each day.
func runsOf(cfg schema.Config, cluster string) float64 {
	const months = 12
	runs := 0.0
	for _, s := range cfg.SchedulesOf(cluster) {
		if s.Enabled {
			runs += runsOfYear(s)
		}
	}
	return runs / months
}

// runsOfYear returns how many runs a schedule has in the year that begins with its first run, of a frequent one by the
// rate of its first runs.
func runsOfYear(s schema.Schedule) float64 {
	const enough = 1000
	begin := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	times, err := schedule.New(s.Expression, s.Timezone, begin, time.Time{})
	if err != nil {
		return 0 // of no valid configuration
	}
	first, found := times.Next(begin.Add(-1))
	if !found { // cron of an earlier year
		times.Start = begin.AddDate(-2, 0, 0)
		first, found = times.Next(times.Start)
	}
	end, runs := first.AddDate(1, 0, 0), 0
	for next := first; found && next.Before(end); next, found = times.Next(next) {
		if runs == enough {
			return enough * float64(end.Sub(first)) / float64(next.Sub(first))
		}
		runs++
	}
	return float64(runs)
}
