package spend

import (
	"cmp"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// attempt returns what an attempt held, by its history: executors from their registration on, and
// the application master from the start of the SparkContext on.
func (c Cluster) attempt(a Application, end tables.Millis) holder {
	row := a.Row
	usage := c.Usage[row.ApplicationID]
	h := holder{row: tables.ApplicationCost{
		Cluster: c.ID, Kind: tables.CostApplication, ApplicationID: row.ApplicationID, AttemptID: row.AttemptID,
		ApplicationName: row.ApplicationName, Basis: tables.BasisExecutors,
	}}
	master := Container{Host: usage.MasterHost, Cores: float64(known(row.MasterCores, 1)), From: row.StartTime, Until: end}
	if known(row.DeployMode, "") == "cluster" {
		master.MiB = containerMiB(row.DriverMemory)
	}
	for _, x := range a.Executors {
		switch {
		case x.ID == fold.DriverExecutor:
			if known(row.DeployMode, "") == "cluster" {
				master.Host = x.Host
			}
		case x.Added > 0:
			h.containers = append(h.containers, Container{
				Host: x.Host, Cores: float64(x.Cores), MiB: containerMiB(row.ExecutorMemory),
				From: x.Added, Until: max(x.Added, cmp.Or(x.End, end)),
			})
		}
	}
	if platform.IsYARNApplicationID(row.ApplicationID) && row.StartTime > 0 && row.StartTime < end {
		h.containers = append(h.containers, master)
	}
	return h
}

// endOf returns when an application ended or, of one that has not said so, was seen last, but
// not after the cluster's end.
func (c Cluster) endOf(row tables.Application) tables.Millis {
	return min(cmp.Or(row.EndTime, c.Usage[row.ApplicationID].Finished, row.LastEventTime, c.Now), cmp.Or(c.Ended, c.Now))
}

// containerMiB returns the memory of a container by its heap, with EMR's own overhead. 0 is unknown.
func containerMiB(heap *int64) float64 {
	if heap == nil {
		return 0
	}
	mib := float64(*heap) / (1 << 20)
	return mib + max(mib*facts.ExecutorOverhead, facts.LeastOverheadMiB)
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
