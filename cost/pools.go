package cost

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// pool is one market of an instance group or fleet: so many units of one of the options.
type pool struct {
	path     string
	role     string
	spot     bool
	units    Counts // what it has; at the start as a rule
	options  []option
	size     int  // what managed scaling counts for a unit
	switches bool // EMR buys on demand what it does not get on spot
}

// option is an instance type that a pool may be made of.
type option struct {
	instanceType string
	weight       int // units of one instance
	ebs          []schema.Volume
	bid          facts.MicroUSD // highest spot price; 0 = that on demand
}

// instances returns how many instances make a number of units.
func (o option) instances(units int) int { return (units + o.weight - 1) / o.weight }

// poolsOf returns the pools of a cluster, with what scaling may do to them.
func (t tariff) poolsOf(c schema.Cluster, path string) []pool {
	var out []pool
	if c.Fleets != nil {
		out = fleetPools(*c.Fleets, path+".fleets", c.ManagedScaling != nil)
	} else {
		out = groupPools(c, path)
	}
	if c.ManagedScaling != nil {
		t.manage(out, *c.ManagedScaling)
	}
	return out
}

func groupPools(c schema.Cluster, path string) []pool {
	var out []pool
	for _, g := range c.GroupsAt(path) {
		n := Counts{g.Count, g.Count, g.MaxCount()}
		if g.AutoScaling != nil {
			n.Least = min(g.Count, g.AutoScaling.Min)
		}
		o := option{instanceType: g.InstanceType, weight: 1, ebs: g.EBS, bid: literal(g.BidPrice)}
		p := pool{path: g.Path, role: g.Role, spot: g.BidPrice != "", units: n, options: []option{o}, size: 1}
		if t, known := facts.InstanceTypeNamed(g.InstanceType); known && c.ManagedScaling != nil && c.ManagedScaling.Unit == schema.UnitVCPU {
			p.size = t.EMR.VCPUs
		}
		out = append(out, p)
	}
	return out
}

// literal reads a price of the configuration, 0 if it stands for that on demand.
func literal(price string) facts.MicroUSD {
	var out facts.MicroUSD
	if price == schema.BidOnDemand || out.UnmarshalJSON([]byte(price)) != nil {
		return 0
	}
	return out
}

// fleetPools returns the pools of fleets. Where EMR scales them, a worker fleet has both
// markets, also one of which it has nothing at the start.
func fleetPools(f schema.Fleets, path string, managed bool) []pool {
	var out []pool
	for _, of := range []struct {
		role  string
		fleet *schema.Fleet
	}{{platform.RoleMaster, &f.Master}, {platform.RoleCore, f.Core}, {platform.RoleTask, f.Task}} {
		if of.fleet == nil {
			continue
		}
		var options []option
		for _, t := range of.fleet.Types {
			options = append(options, option{t.InstanceType, max(1, t.Weight), t.EBS, literal(t.BidPrice)})
		}
		for _, market := range []struct {
			key   string
			spot  bool
			units int
		}{{"onDemand", false, of.fleet.OnDemand}, {"spot", true, of.fleet.Spot}} {
			if market.units > 0 || managed && of.role != platform.RoleMaster {
				out = append(out, pool{
					path: path + "." + of.role + "." + market.key, role: of.role, spot: market.spot, options: options, size: 1,
					switches: of.fleet.SpotTimeoutAction == schema.SwitchToOnDemand,
					units:    Counts{market.units, market.units, market.units},
				})
			}
		}
	}
	return out
}

// manage sets what managed scaling may do. EMR removes task nodes before core nodes, of
// which it keeps one; so the least are core nodes first. Where a cluster starts with fewer
// than the least, the first worker pool that may grow has the rest, at once. The most is
// what costs most within the limits.
func (t tariff) manage(pools []pool, m schema.ManagedScaling) {
	var workers []int
	for i, p := range pools {
		if p.role != platform.RoleMaster {
			workers = append(workers, i)
		}
	}
	left := m.Min
	for _, i := range workers {
		p := &pools[i]
		n := min(p.units.Typical, (max(left, 0)+p.size-1)/p.size)
		if p.role == platform.RoleCore && !p.spot {
			n = max(n, 1)
		}
		p.units.Least, left = n, left-n*p.size
	}
	fill(pools, workers, m, left)
	slices.SortStableFunc(workers, func(a, b int) int {
		return cmp.Compare(t.unitAtMost(pools[b])/facts.MicroUSD(pools[b].size), t.unitAtMost(pools[a])/facts.MicroUSD(pools[a].size))
	})
	all, core, onDemand := m.Max, limit(m.MaxCore, m.Max), limit(m.MaxOnDemand, m.Max)
	for _, i := range workers {
		p := &pools[i]
		most := all
		if p.role == platform.RoleCore {
			most = min(most, core)
		}
		if !p.spot {
			most = min(most, onDemand)
		}
		n := max(0, most/p.size)
		p.units.Most = max(p.units.Typical, n)
		all -= n * p.size
		if p.role == platform.RoleCore {
			core -= n * p.size
		}
		if !p.spot {
			onDemand -= n * p.size
		}
	}
}

// fill adds the units that a cluster lacks for its least.
func fill(pools []pool, workers []int, m schema.ManagedScaling, lacking int) {
	core := limit(m.MaxCore, m.Max)
	for _, i := range workers {
		if pools[i].role == platform.RoleCore {
			core -= pools[i].units.Typical * pools[i].size
		}
	}
	for _, i := range workers {
		p := &pools[i]
		may := lacking
		if p.role == platform.RoleCore {
			may = min(may, core)
		}
		if n := (max(may, 0) + p.size - 1) / p.size; n > 0 {
			p.units.Least, p.units.Typical = p.units.Least+n, p.units.Typical+n
			lacking -= n * p.size
		}
	}
}

func limit(part *int, all int) int {
	if part == nil {
		return all
	}
	return *part
}

// detail says how many instances of what, and how they are bought.
func (p pool) detail() string {
	market := "on demand"
	if p.spot {
		market = "on spot"
	}
	types := map[string]bool{}
	for _, o := range p.options {
		types[o.instanceType] = true
	}
	what := "× " + strings.Join(slices.Sorted(maps.Keys(types)), " or ")
	if len(p.options) > 1 || p.options[0].weight > 1 {
		what = "units of " + strings.TrimPrefix(what, "× ")
	}
	count := fmt.Sprint(p.units.Typical)
	if p.units.Least != p.units.Most {
		count = fmt.Sprintf("%d (%d to %d)", p.units.Typical, p.units.Least, p.units.Most)
	}
	return count + " " + what + " " + market
}
