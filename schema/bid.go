package schema

import (
	"fmt"
	"maps"

	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// BidOnDemand is the bidPrice that stands for the instance type's price on demand. The
// provider's groups take a literal price only, unlike fleets, which have bidPercent.
const BidOnDemand = "onDemand"

// WithBids returns the cluster with the literal prices that BidOnDemand stands for in a
// region, in USD per hour. checkBids has required that they are known.
func (c Cluster) WithBids(region string) Cluster {
	c.Master, c.Core = c.Master.withBid(region), c.Core.withBid(region)
	c.Tasks = maps.Clone(c.Tasks)
	for key, g := range c.Tasks {
		c.Tasks[key] = g.withBid(region)
	}
	return c
}

func (g InstanceGroup) withBid(region string) InstanceGroup {
	if g.BidPrice != BidOnDemand {
		return g
	}
	if price, known := facts.PriceOf(region, g.InstanceType); known {
		const step = 10 // millionths: a price of the configuration has five decimals
		g.BidPrice = violation.JSON((price.OnDemand + step - 1) / step * step)
	}
	return g
}

// checkBids requires that the prices on demand are known that groups ask for.
func (c Cluster) checkBids(l *violation.List, path, region string) {
	if !rules["region"].Holds(region) {
		return
	}
	for _, g := range c.GroupsAt(path) {
		if g.BidPrice != BidOnDemand {
			continue
		}
		_, known := facts.PriceOf(region, g.InstanceType)
		l.Require(known, g.Path+".bidPrice", g.BidPrice,
			fmt.Sprintf("must be a price: that of %s on demand in %s is not known", g.InstanceType, region),
			"write it in USD per hour, or choose another type")
	}
}
