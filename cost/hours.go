package cost

import (
	"fmt"
	"math"
	"strconv"

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
func hoursOf(c schema.Cluster) (Hours, string) {
	idle := Duration(c.IdleTimeoutMinutes) / minutes
	switch {
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
