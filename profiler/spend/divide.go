// Package spend computes what a cluster's nodes have cost, and divides that among the
// applications whose containers had their capacity and what nobody had.
//
// It computes only: package source lists nodes and YARN's accounting, package run reads the
// applications. What a cluster will cost is package cost's.
package spend

import (
	"cmp"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Node is an instance whose capacity YARN offers.
type Node struct {
	Host        string // without its domain
	Address     string // by which a container may name it, too; "" if unknown
	Cores       int64  // that YARN offers
	MiB         int64  // that YARN offers
	From, Until tables.Millis
	Price       float64 // USD per millisecond
	Spot        bool
}

// Container is what an application had of a node.
type Container struct {
	Owner       int    // index of the application
	Host        string // without its domain; "" if unknown
	Cores       float64
	MiB         float64 // 0 if unknown
	From, Until tables.Millis
}

// Part is what an application had of the nodes, or nobody.
type Part struct {
	USD, SpotUSD float64
	CoreMillis   float64
	MiBMillis    float64
}

func (p *Part) add(other Part) {
	p.USD, p.SpotUSD = p.USD+other.USD, p.SpotUSD+other.SpotUSD
	p.CoreMillis, p.MiBMillis = p.CoreMillis+other.CoreMillis, p.MiBMillis+other.MiBMillis
}

func (p Part) times(factor float64) Part {
	return Part{p.USD * factor, p.SpotUSD * factor, p.CoreMillis * factor, p.MiBMillis * factor}
}

// Divide divides the time of nodes among the owners of containers, numbered from 0. At each
// instant, a container has the larger of its shares of its node's cores and memory, since
// YARN cannot give another what lacks either. Where the containers of a node add up to more than it
// has (YARN's default calculator counts no cores), they share it in proportion. A container on
// an unknown host takes part in what is free of all nodes together.
//
// The parts of owners and idle add up to the nodes' cost. A part's CoreMillis are those of the
// nodes that it paid for, not those that it asked for.
func Divide(nodes []Node, containers []Container, owners int) (parts []Part, idle Part) {
	parts = make([]Part, owners)
	on, elsewhere := placed(nodes, containers)
	var free []span
	for i, node := range nodes {
		free = append(free, node.divide(on[i], parts)...)
	}
	return parts, divideFree(free, elsewhere, parts)
}

// placed assigns containers to the nodes on which they ran, by host and time, and returns those
// that ran on none of them. Hosts' names return when addresses are used again.
func placed(nodes []Node, containers []Container) (on [][]Container, elsewhere []Container) {
	byHost := map[string][]int{}
	for i, node := range nodes {
		byHost[node.Host] = append(byHost[node.Host], i)
		if node.Address != "" {
			byHost[node.Address] = append(byHost[node.Address], i)
		}
	}
	on = make([][]Container, len(nodes))
	for _, c := range containers {
		found := false
		for _, i := range byHost[c.Host] {
			from, until := max(c.From, nodes[i].From), min(c.Until, nodes[i].Until)
			if c.Host != "" && from < until {
				clipped := c
				clipped.From, clipped.Until = from, until
				on[i] = append(on[i], clipped)
				found = true
			}
		}
		if !found && c.From < c.Until {
			elsewhere = append(elsewhere, c)
		}
	}
	return on, elsewhere
}

// span is a time in which the containers of a node, or what is free of nodes, do not change.
type span struct {
	from, until tables.Millis
	rate        Part // per millisecond
}

// change is the begin or the end of a container or of a span.
type change struct {
	at tables.Millis
	do func()
}

// sweep calls each for every time between two changes, in order, when those up to it are done.
func sweep(changes []change, each func(from, until tables.Millis)) {
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	for i, c := range changes {
		if i > 0 && changes[i-1].at < c.at {
			each(changes[i-1].at, c.at)
		}
		c.do()
	}
}

// running are the containers that run, in their order: sums of the same run are the same.
type running []int

// changes returns the beginnings and ends of containers.
func (r *running) changes(containers []Container) (changes []change) {
	for i, c := range containers {
		changes = append(changes,
			change{c.From, func() {
				at, _ := slices.BinarySearch(*r, i)
				*r = slices.Insert(*r, at, i)
			}},
			change{c.Until, func() {
				at, _ := slices.BinarySearch(*r, i)
				*r = slices.Delete(*r, at, at+1)
			}})
	}
	return changes
}

// whole is what a node is, per millisecond.
func (n Node) whole() Part {
	whole := Part{USD: n.Price, CoreMillis: float64(n.Cores), MiBMillis: float64(n.MiB)}
	if n.Spot {
		whole.SpotUSD = n.Price
	}
	return whole
}

// share returns what a container has of a capacity, from 0 to 1.
func (c Container) share(cores, mib float64) (share float64) {
	const none = 1e-9 // sums of fractions
	if cores > none {
		share = c.Cores / cores
	}
	if mib > none {
		share = max(share, c.MiB/mib)
	}
	return min(share, 1)
}

// divide adds what containers had of the node to their owners' parts, and returns what was free.
func (n Node) divide(containers []Container, parts []Part) (free []span) {
	var running running
	whole := n.whole()
	changes := append(running.changes(containers), change{n.From, func() {}}, change{n.Until, func() {}})
	sweep(changes, func(from, until tables.Millis) {
		total := 0.0
		for _, i := range running {
			total += containers[i].share(whole.CoreMillis, whole.MiBMillis)
		}
		time := float64(until - from)
		for _, i := range running {
			c := containers[i]
			parts[c.Owner].add(whole.times(time * c.share(whole.CoreMillis, whole.MiBMillis) / max(total, 1)))
		}
		if total < 1 {
			free = append(free, span{from, until, whole.times(1 - total)})
		}
	})
	return free
}

// divideFree adds to the parts of containers without a node what they had of the free
// capacity, by the larger share, and returns the rest.
func divideFree(free []span, containers []Container, parts []Part) (idle Part) {
	var changes []change
	var rate Part // of what is free
	for _, s := range free {
		changes = append(changes, change{s.from, func() { rate.add(s.rate) }}, change{s.until, func() { rate.add(s.rate.times(-1)) }})
	}
	var running running
	changes = append(changes, running.changes(containers)...)
	sweep(changes, func(from, until tables.Millis) {
		time, total := float64(until-from), 0.0
		for _, i := range running {
			total += containers[i].share(rate.CoreMillis, rate.MiBMillis)
		}
		for _, i := range running {
			parts[containers[i].Owner].add(rate.times(time * containers[i].share(rate.CoreMillis, rate.MiBMillis) / max(total, 1)))
		}
		idle.add(rate.times(time * (1 - min(1, total))))
	})
	return idle
}
