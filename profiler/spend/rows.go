package spend

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// Cluster is what is known of a cluster.
type Cluster struct {
	ID           tables.Cluster
	Instances    []tables.Instance
	Groups       []tables.Cost // without usage and prices
	Usage        map[string]source.Usage
	Applications []Application
	Ended        tables.Millis // 0 while it runs
	Now          tables.Millis
}

// Application is an attempt of a Spark application that was read.
type Application struct {
	Row       tables.Application
	Executors []Executor // the driver, too
}

// Executor is what is needed of an executor.
type Executor struct {
	ID, Host   string // without its domain
	Cores      int64
	Added, End tables.Millis // 0 if it was not removed
}

// Rows returns the cluster's rows of the tables costs and application_costs; of the latter none
// if the cluster has had no instances.
func (c Cluster) Rows() ([]tables.Cost, []tables.ApplicationCost) {
	c.Now = c.until()
	costs, priced := c.costs()
	if len(c.Instances) == 0 {
		return costs, nil
	}
	workers := c.workers()
	held := c.holders()
	var containers []Container
	for owner, h := range held {
		for _, container := range h.containers {
			container.Owner = owner
			containers = append(containers, container)
		}
	}
	parts, idle := Divide(workers, containers, len(held))
	var rows []tables.ApplicationCost
	for i, h := range held {
		h.row.USD, h.row.SpotUSD = &parts[i].USD, &parts[i].SpotUSD
		rows = append(rows, h.row)
	}
	rows = append(rows, c.row(tables.CostIdle, idle))
	if len(workers) < len(c.Instances) {
		main := c.row(tables.CostPrimary, c.primaries())
		main.CoreHours = nil
		rows = append(rows, main)
	}
	date := facts.PricesDate(c.ID.Region)
	for i := range rows {
		if !priced {
			rows[i].USD, rows[i].SpotUSD = nil, nil
		} else {
			rows[i].PriceDate = &date
		}
	}
	return costs, rows
}

// until is up to when what runs is counted: the last full hour or, if that is later, the last end
// of an application. Rows in which nothing has happened stay the same for that long.
func (c Cluster) until() tables.Millis {
	if c.Ended > 0 {
		return c.Ended
	}
	until := c.Now - c.Now%time.Hour.Milliseconds()
	for _, a := range c.Applications {
		until = max(until, a.Row.EndTime)
	}
	for _, u := range c.Usage {
		until = max(until, u.Finished)
	}
	return min(until, c.Now)
}

// row returns the row of what belongs to no application.
func (c Cluster) row(kind string, part Part) tables.ApplicationCost {
	var first, last tables.Millis
	for _, i := range c.Instances {
		if i.CreatedTime > 0 && (first == 0 || i.CreatedTime < first) {
			first = i.CreatedTime
		}
		last = max(last, i.CreatedTime+c.paid(i))
	}
	return tables.ApplicationCost{
		Cluster: c.ID, Kind: kind, Basis: tables.BasisNodes, CoreHours: new(part.CoreMillis / millisPerHour), StartTime: first, EndTime: last,
		USD: &part.USD, SpotUSD: &part.SpotUSD,
	}
}

const millisPerHour = float64(time.Hour / time.Millisecond)

// price returns what a millisecond of an instance costs, in USD, with EMR's fee. It is false if
// the lists of prices lack its type in the region.
func (c Cluster) price(i tables.Instance) (usd float64, known bool) {
	price, known := facts.PriceOf(c.ID.Region, i.InstanceType)
	hour := price.OnDemand
	if i.Market == "SPOT" {
		hour = price.Spot()
	}
	return (hour + price.EMRFee).USD() / millisPerHour, known
}

// paid returns for how many milliseconds an instance has been paid.
func (c Cluster) paid(i tables.Instance) tables.Millis {
	if i.CreatedTime == 0 {
		return 0
	}
	return max(0, cmp.Or(i.EndTime, c.Now)-i.CreatedTime)
}

// costs fills in the rows of the groups, and adds those of types that they lack. priced is
// false if an instance has no price.
func (c Cluster) costs() (rows []tables.Cost, priced bool) {
	rows, priced = slices.Clone(c.Groups), true
	if c.Instances == nil {
		return rows, false
	}
	date := facts.PricesDate(c.ID.Region)
	for i := range rows {
		rows[i].InstanceSeconds, rows[i].USD, rows[i].PriceDate = new(int64), new(float64), &date
	}
	millis := map[int]tables.Millis{} // by row
	for _, instance := range c.Instances {
		at := slices.IndexFunc(rows, func(r tables.Cost) bool {
			return r.Group == instance.Group && r.InstanceType == instance.InstanceType && r.Market == instance.Market
		})
		if at < 0 {
			at = len(rows)
			rows = append(rows, tables.Cost{
				Cluster: c.ID, Group: instance.Group, Role: instance.Role, InstanceType: instance.InstanceType, Market: instance.Market,
				InstanceSeconds: new(int64), USD: new(float64), PriceDate: &date,
			})
		}
		row := &rows[at]
		usd, known := c.price(instance)
		if !known {
			row.USD, row.PriceDate, priced = nil, nil, false
		}
		if row.USD != nil {
			*row.USD += usd * float64(c.paid(instance))
		}
		millis[at] += c.paid(instance)
		*row.InstanceSeconds = millis[at] / time.Second.Milliseconds()
	}
	return rows, priced
}

// workers returns the nodes whose capacity YARN offers: the primary node only of a cluster that has no
// other.
func (c Cluster) workers() (nodes []Node) {
	alone := !slices.ContainsFunc(c.Instances, func(i tables.Instance) bool { return i.Role != source.Primary })
	for _, i := range c.Instances {
		if i.Role == source.Primary && !alone {
			continue
		}
		kind, _ := facts.InstanceTypeNamed(i.InstanceType)
		price, _ := c.price(i)
		nodes = append(nodes, Node{
			Host: i.Host, Address: i.Address, Cores: int64(kind.YARNVCores()), MiB: int64(kind.YARNMemoryMiB()),
			From: i.CreatedTime, Until: i.CreatedTime + c.paid(i), Price: price, Spot: i.Market == "SPOT",
		})
	}
	return nodes
}

// primaries returns what the primary nodes cost.
func (c Cluster) primaries() (part Part) {
	for _, i := range c.Instances {
		if i.Role == source.Primary {
			price, _ := c.price(i)
			node := Node{Price: price, Spot: i.Market == "SPOT"}
			part.add(node.whole().times(float64(c.paid(i))))
		}
	}
	return part
}

// holder is an application with what it held.
type holder struct {
	row        tables.ApplicationCost
	containers []Container
}

// holders returns the attempts of Spark applications that were read, and the other applications
// that YARN has accounted for.
func (c Cluster) holders() (all []holder) {
	byID := map[string][]*holder{}
	attempts := slices.Clone(c.Applications)
	slices.SortStableFunc(attempts, func(a, b Application) int {
		return cmp.Or(cmp.Compare(a.Row.ApplicationID, b.Row.ApplicationID), cmp.Compare(a.Row.StartTime, b.Row.StartTime))
	})
	for i, a := range attempts {
		end := c.endOf(a.Row)
		if next := i + 1; a.Row.EndTime == 0 && next < len(attempts) && attempts[next].Row.ApplicationID == a.Row.ApplicationID {
			end = cmp.Or(a.Row.LastEventTime, attempts[next].Row.StartTime) // YARN began another attempt
		}
		all = append(all, c.attempt(a, end))
	}
	for i := range all {
		id := all[i].row.ApplicationID
		byID[id] = append(byID[id], &all[i])
	}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		usage, known := c.Usage[id]
		settle(byID[id], usage, known)
	}
	for _, id := range slices.Sorted(maps.Keys(c.Usage)) {
		if byID[id] == nil {
			all = append(all, c.unread(c.Usage[id]))
		}
	}
	return all
}

// unread returns an application of which YARN's accounting is all that is known: one that
// is not Spark's, or that was not read.
func (c Cluster) unread(u source.Usage) holder {
	h := holder{row: tables.ApplicationCost{
		Cluster: c.ID, Kind: tables.CostApplication, ApplicationID: u.ApplicationID, ApplicationName: u.Name,
	}}
	if seconds := float64(u.Finished-u.Started) / 1e3; seconds > 0 {
		h.containers = []Container{{
			From: u.Started, Until: u.Finished, Cores: float64(u.VCoreSeconds) / seconds, MiB: float64(u.MiBSeconds) / seconds,
		}}
	}
	h.account(u)
	h.row.CoreHours = new(float64(u.VCoreSeconds) / time.Hour.Seconds())
	h.row.StartTime, h.row.EndTime = u.Started, u.Finished
	return h
}

// account records what YARN accounted.
func (h *holder) account(u source.Usage) {
	h.row.Basis, h.row.VCoreSeconds, h.row.MiBSeconds = tables.BasisYARN, &u.VCoreSeconds, &u.MiBSeconds
	if u.MasterHost != "" {
		h.row.MasterHost = &u.MasterHost
	}
}
