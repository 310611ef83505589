package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// common is the region whose fee the other commercial regions share.
const common = "us-east-1"

// merge makes the file of prices. Karpenter's prices come before the others: they are
// newer.
func merge(types []facts.InstanceType, r recent, i info) facts.Prices {
	out := facts.Prices{Sources: []facts.PriceSource{r.source, i.source}, Refresh: "make facts"}
	var discounts []int
	for _, t := range types {
		figures := i.types[t.Name]
		entry := facts.TypePrices{Name: t.Name, Fee: figures.fee[common], OnDemand: map[string]facts.MicroUSD{}}
		maps.Copy(entry.OnDemand, figures.onDemand)
		for region, prices := range r.prices {
			if price, offered := prices[t.Name]; offered {
				entry.OnDemand[region] = price
			}
		}
		entry.FeeIn = otherFees(figures.fee)
		if len(figures.saved) > 0 {
			entry.Spot = median(figures.saved)
			discounts = append(discounts, entry.Spot)
		}
		out.Types = append(out.Types, entry)
	}
	out.Spot = median(discounts)
	return out
}

// otherFees keeps the fees that the common one does not tell: those of GovCloud, and those
// that differ.
func otherFees(fees map[string]facts.MicroUSD) map[string]facts.MicroUSD {
	out := map[string]facts.MicroUSD{}
	for region, fee := range fees {
		if region != common && (fee != fees[common] || strings.HasPrefix(region, "us-gov-")) {
			out[region] = fee
		}
	}
	return out
}

// median returns the middle of a list. Between two it rounds down: a discount that is too
// small is no bad surprise.
func median(list []int) int {
	slices.Sort(list)
	const two = 2
	return (list[(len(list)-1)/two] + list[len(list)/two]) / two
}
