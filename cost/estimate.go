package cost

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// Of returns what the stack of a valid configuration costs, by the tables of package facts.
func Of(cfg schema.Config) Estimate { return tables().estimate(cfg) }

func (list priceList) estimate(cfg schema.Config) Estimate {
	t := list.in(cfg.Region)
	out := Estimate{Region: cfg.Region, Prices: sources(), Clusters: []Part{}, Stack: t.stackPart(cfg)}
	out.Month = out.Stack.Month
	for _, key := range cfg.ClusterKeys() {
		runs := 0.0
		if cfg.Clusters[key].OfSchedules() { // what standing clusters cost does not depend on runs
			runs = runsOf(cfg, key)
		}
		p := list.in(cfg.Region).clusterPart(key, cfg.Clusters[key], runs)
		out.Clusters = append(out.Clusters, p)
		out.Month = out.Month.plus(p.Month)
	}
	return out
}

// sources names the tables of prices with their dates.
func sources() []string {
	var out []string
	for _, s := range facts.PriceFile().Sources {
		out = append(out, fmt.Sprintf("%s of %s", s.Module, s.Date))
	}
	return append(out, "schema/facts/services.json of "+facts.ServicesFile().Date)
}

// clusterPart returns what a cluster costs. runs are those of a month, of a cluster that each run of a schedule starts.
func (t tariff) clusterPart(key string, c schema.Cluster, runs float64) Part {
	p := Part{Name: key}
	for _, pool := range t.poolsOf(c, schema.ClusterPath(key)) {
		t.addPool(&p, pool, c.RootVolumeGiB)
	}
	hours, assumption := hoursOf(c, runs)
	p.Assumptions, p.Unpriced = []string{assumption}, *t.missing
	if c.Fleets != nil {
		p.Assumptions = append(p.Assumptions, "a fleet may exceed its target by less than one instance")
	}
	p.finish(hours)
	return p
}

// addPool adds the lines of a pool. Of several instance types, least and typical are the
// cheapest, most is the dearest.
func (t tariff) addPool(p *Part, pool pool, rootGiB int) {
	if len(pool.options) == 0 {
		return
	}
	choices := make([]nodePrice, len(pool.options)) // of all instances
	for i, o := range pool.options {
		n := t.price(pool, o, rootGiB)
		counts := Counts{o.instances(pool.units.Least), o.instances(pool.units.Typical), o.instances(pool.units.Most)}
		choices[i] = nodePrice{counts.times(n.instance), counts.times(n.fee), counts.times(n.volumes)}
	}
	least := slices.MinFunc(choices, func(a, b nodePrice) int { return cmp.Compare(a.sum().Least, b.sum().Least) })
	typical := slices.MinFunc(choices, func(a, b nodePrice) int { return cmp.Compare(a.sum().Typical, b.sum().Typical) })
	most := slices.MaxFunc(choices, func(a, b nodePrice) int { return cmp.Compare(a.sum().Most, b.sum().Most) })
	chosen := func(part func(nodePrice) Range) Range {
		return Range{part(least).Least, part(typical).Typical, part(most).Most}
	}
	p.add(pool.path, Instances, pool.detail(), chosen(func(n nodePrice) Range { return n.instance }))
	p.add(pool.path, EMRFee, "EMR's fee", chosen(func(n nodePrice) Range { return n.fee }))
	p.add(pool.path, Volumes, "volumes of EBS", hourly(chosen(func(n nodePrice) Range { return n.volumes })))
}
