package facts

import (
	_ "embed" // the data files
	"math"
	"slices"
	"sync"
)

// Prices is the file of the hourly prices of the instance types that EMR takes.
type Prices struct {
	Sources []PriceSource `json:"sources"`
	Refresh string        `json:"refresh"`
	Spot    int           `json:"spot"` // the median of the types' spot discounts, in percent
	Types   []TypePrices  `json:"types"`
}

// PriceSource is a library that carries prices of AWS's, and what the file has from it.
type PriceSource struct {
	Module  string   `json:"module"`
	Version string   `json:"version"`
	Date    string   `json:"date"` // of its prices
	Has     []string `json:"has"`
}

// TypePrices has the prices of one instance type, in USD per hour.
//
// Fee is EMR's fee in us-east-1, which the other commercial regions share; zero where the
// source has none, and the rule of fee.go gives it. Other fees are those that the source
// has beside it: in GovCloud, and where a region differs.
type TypePrices struct {
	Name     string              `json:"type"`
	Fee      MicroUSD            `json:"fee,omitempty"`
	FeeIn    map[string]MicroUSD `json:"feeIn,omitempty"`    // by region
	Spot     int                 `json:"spot,omitempty"`     // discount in percent; 0 = the source has none
	OnDemand map[string]MicroUSD `json:"onDemand,omitempty"` // by region: Linux, shared tenancy
}

//go:embed prices.json
var pricesJSON []byte

// PriceFile returns the file of prices, whose dates an estimate has to name.
var PriceFile = sync.OnceValue(func() Prices { return parse[Prices]("prices.json", pricesJSON) })

// PricesDate returns the date of the on-demand prices of a region, as YYYY-MM-DD.
func PricesDate(region string) string {
	const prices = "on-demand prices of "
	for _, name := range []string{region, "the other regions"} {
		for _, s := range PriceFile().Sources {
			if slices.Contains(s.Has, prices+name) {
				return s.Date
			}
		}
	}
	return ""
}

// Price is what an hour of an instance costs.
type Price struct {
	OnDemand MicroUSD // USD per hour to EC2: Linux, shared tenancy
	EMRFee   MicroUSD // USD per hour to EMR, on demand and on spot alike

	// SpotDiscount is the usual discount on OnDemand, a share of 0 to 1: the median over
	// the regions for which AWS's Spot Instance Advisor named one. The regions of a type
	// differ (by 9 points of standard deviation), and so does one region from month to
	// month, so that a figure for each would only look more exact.
	SpotDiscount float64

	// SpotOfAll says that no discount is known of this type: it is the median of all types.
	SpotOfAll bool

	// FeeByRule says that the source has no fee and EMRFee is computed (see fee.go).
	FeeByRule bool
}

// Spot returns what the instance usually costs on spot, in USD per hour, without EMR's fee.
func (p Price) Spot() MicroUSD {
	return MicroUSD(math.Round(float64(p.OnDemand) * (1 - p.SpotDiscount)))
}

// PriceOf returns the price of an instance type in a region (prices.json). It is false if
// the sources have no price of the type there: EC2 does not offer it, or the type or the
// region is newer than the source, which for all but us-east-1 and GovCloud is older.
func PriceOf(region, instanceType string) (Price, bool) {
	t, known := named(PriceFile().Types, instanceType, func(t TypePrices) string { return t.Name })
	onDemand, offered := t.OnDemand[region]
	if !known || !offered {
		return Price{}, false
	}
	p := Price{OnDemand: onDemand}
	p.EMRFee, p.FeeByRule = t.fee(region)
	percent := t.Spot
	if percent == 0 {
		percent, p.SpotOfAll = PriceFile().Spot, true
	}
	const whole = 100
	p.SpotDiscount = float64(percent) / whole
	return p, true
}
