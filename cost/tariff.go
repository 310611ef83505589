package cost

import (
	"fmt"
	"slices"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// priceList has prices by region. That of package facts is the real one.
type priceList struct {
	priceOf    func(region, instanceType string) (facts.Price, bool)
	servicesOf func(region string) (facts.Services, bool)
}

func tables() priceList { return priceList{facts.PriceOf, facts.ServicesOf} }

// tariff are the prices of a region, and what somebody asked for that they lack.
type tariff struct {
	priceList
	region   string
	services facts.Services
	known    bool // services
	missing  *[]string
}

func (p priceList) in(region string) tariff {
	t := tariff{priceList: p, region: region, missing: &[]string{}}
	t.services, t.known = p.servicesOf(region)
	return t
}

// lacks notes what has no price, and where it is asked for.
func (t tariff) lacks(path, what string) {
	entry := path + ": " + what
	if !slices.Contains(*t.missing, entry) {
		*t.missing = append(*t.missing, entry)
	}
}

// nodePrice is what instances cost: in an hour, but their volumes in a month, so that
// nothing is rounded before it is multiplied.
type nodePrice struct{ instance, fee, volumes Range }

// sum returns what they cost in an hour.
func (n nodePrice) sum() Range { return n.instance.plus(n.fee).plus(hourly(n.volumes)) }

// price returns what an instance of a pool costs. On spot it costs the usual price, and at
// most the highest that the pool pays, or the price on demand, where EMR buys that if there
// is no spot. EMR's fee is the same as on demand.
func (t tariff) price(p pool, o option, rootGiB int) nodePrice {
	price, known := t.priceOf(t.region, o.instanceType)
	if !known {
		t.lacks(p.path, o.instanceType+" in "+t.region)
	}
	out := nodePrice{instance: Always(price.OnDemand), fee: Always(price.EMRFee), volumes: Always(t.volumes(p.path, o, rootGiB))}
	if p.spot {
		most := price.OnDemand
		if o.bid > 0 {
			most = min(most, o.bid)
		}
		usual := min(price.Spot(), most)
		if p.switches {
			most = price.OnDemand
		}
		out.instance = Range{usual, usual, most}
	}
	return out
}

// volumes returns what the volumes of one instance cost in a month: its own, or those that
// EMR adds unasked, and the root volume.
func (t tariff) volumes(path string, o option, rootGiB int) facts.MicroUSD {
	root := facts.RootVolume()
	if rootGiB > 0 {
		root.GiB = rootGiB
	}
	month := t.volume(path, schema.Volume{Type: root.Type, SizeGiB: root.GiB, PerInstance: root.Count})
	for _, v := range o.ebs {
		month += t.volume(path, v)
	}
	if len(o.ebs) == 0 {
		own, known := facts.DefaultVolumes(o.instanceType)
		if !known {
			t.lacks(path, "EMR's own volumes of "+o.instanceType)
		}
		month += t.volume(path, schema.Volume{Type: own.Type, SizeGiB: own.GiB, PerInstance: own.Count})
	}
	return month
}

// volume returns what the volumes of one kind cost in a month.
func (t tariff) volume(path string, v schema.Volume) facts.MicroUSD {
	if v.PerInstance == 0 {
		return 0
	}
	price, known := t.services.Volumes[v.Type]
	if !known {
		t.lacks(path, fmt.Sprintf("EBS %s in %s", v.Type, t.region))
	}
	return price.Month(v.SizeGiB, v.IOPS, v.Throughput) * facts.MicroUSD(v.PerInstance)
}

// hourly spreads amounts of a month over its hours.
func hourly(month Range) Range {
	spread := func(m facts.MicroUSD) facts.MicroUSD { return (m + MonthHours/2) / MonthHours }
	return Range{spread(month.Least), spread(month.Typical), spread(month.Most)}
}

// unitAtMost returns the most that a unit of a pool costs, without volumes.
func (t tariff) unitAtMost(p pool) facts.MicroUSD {
	var out facts.MicroUSD
	for _, o := range p.options {
		n := t.price(p, o, 0)
		out = max(out, n.sum().Most/facts.MicroUSD(o.weight))
	}
	return out
}
