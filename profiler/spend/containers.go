package spend

import (
	"cmp"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

const driver = "driver" // the executor id of drivers

// attempt returns what an attempt held, by its history: executors from their registration on, and
// the application master from the start of the SparkContext on.
func (c Cluster) attempt(a Application) holder {
	row := a.Row
	usage := c.Usage[row.ApplicationID]
	end := cmp.Or(row.EndTime, usage.Finished, row.LastEventTime, c.Now)
	h := holder{row: tables.ApplicationCost{
		Cluster: c.ID, Kind: tables.CostApplication, ApplicationID: row.ApplicationID, AttemptID: row.AttemptID,
		ApplicationName: row.ApplicationName, Basis: tables.BasisExecutors,
	}}
	master := Container{Host: usage.MasterHost, Cores: float64(known(row.MasterCores, 1)), From: row.StartTime, Until: end}
	for _, x := range a.Executors {
		host, _, _ := strings.Cut(x.HostPort, ":")
		switch {
		case x.ExecutorID == driver:
			if known(row.DeployMode, "") == "cluster" {
				master.Host = source.HostOf(host)
			}
		case x.AddTime > 0:
			h.containers = append(h.containers, Container{
				Host: source.HostOf(host), Cores: float64(x.TotalCores), MiB: containerMiB(row.ExecutorMemory),
				From: x.AddTime, Until: max(x.AddTime, cmp.Or(x.RemoveTime, end)),
			})
		}
	}
	if isOnYARN(row.ApplicationID) && row.StartTime > 0 && row.StartTime < end {
		h.containers = append(h.containers, master)
	}
	return h
}

// containerMiB returns the memory of an executor's container with Spark's default overhead: a
// tenth, at least 384 MiB (spark.executor.memoryOverheadFactor, spark.executor.minMemoryOverhead). 0 is unknown.
func containerMiB(executor *int64) float64 {
	if executor == nil {
		return 0
	}
	const share, least = 0.1, 384
	mib := float64(*executor) / (1 << 20)
	return mib + max(mib*share, least)
}

// maxStart limits by how much the start of a container may precede its executor's registration.
// More is missing history, not a slow start.
const maxStart = 2 * float64(time.Minute/time.Millisecond)

// settle corrects the containers of an application's attempts by what YARN accounted for them
// all together, if that is known: what YARN has more is the time from a container's allocation
// to its executor's registration. It fills in the attempts' core-hours.
func settle(attempts []*holder, u source.Usage, accounted bool) {
	var all sums
	for _, h := range attempts {
		all.add(h.containers)
	}
	start, mib := 0.0, 0.0
	if accounted {
		start = all.start(float64(u.VCoreSeconds) * 1e3)
		if time := all.millis + start*all.containers; time > 0 {
			mib = float64(u.MiBSeconds) * 1e3 / time
		}
	}
	for _, h := range attempts {
		for i := range h.containers {
			container := &h.containers[i]
			container.From -= tables.Millis(start)
			container.MiB = cmp.Or(mib, container.MiB)
			if h.row.StartTime == 0 || container.From < h.row.StartTime {
				h.row.StartTime = container.From
			}
			h.row.EndTime = max(h.row.EndTime, container.Until)
		}
		if accounted {
			h.account(u)
		}
		var own sums
		own.add(h.containers)
		h.row.CoreHours = new(own.coreMillis / millisPerHour)
	}
}

// sums are totals over containers.
type sums struct{ containers, cores, millis, coreMillis float64 }

func (s *sums) add(containers []Container) {
	for _, c := range containers {
		time := float64(c.Until - c.From)
		s.containers++
		s.cores += c.Cores
		s.millis += time
		s.coreMillis += time * c.Cores
	}
}

// start returns by how many milliseconds containers began before their executors registered, so
// that they add up to YARN's vcore-milliseconds. YARN counts either cores or, with its
// DefaultResourceCalculator, containers: much less than the cores means the latter.
func (s *sums) start(yarn float64) float64 {
	const much = 0.9
	counted, each := s.coreMillis, s.cores
	if yarn < much*s.coreMillis {
		counted, each = s.millis, s.containers
	}
	if each == 0 {
		return 0
	}
	return min(max(0, (yarn-counted)/each), maxStart)
}

// known returns the value of a column, or another if it is null.
func known[T any](column *T, otherwise T) T {
	if column == nil {
		return otherwise
	}
	return *column
}
