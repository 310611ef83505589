package facts

import (
	"slices"
	"strings"
)

// The rule of EMR's fee for clusters on EC2, as counted in the fees of prices.json (AWS's
// page, "Amazon EMR pricing", lists only fees): a share of the type's on-demand price in
// us-east-1, the same USD in every commercial region, and 20 % more in GovCloud. The fee of
// older families is capped. prices_test.go holds the rule to the fees of the source, with
// the exceptions by name.
const (
	feePercent      = 25
	feePercentM4    = 30
	govCloudPercent = 120
	feeCap          = MicroUSD(270_000)
	feeRegion       = "us-east-1"
	govCloudPrefix  = "us-gov-"
)

// cappedFamilies begin the names of the families whose fee is capped: c5 is also c5ad.
func cappedFamilies() []string {
	return []string{"c3", "c4", "c5", "d2", "d3", "g3", "g4dn", "h1", "i2", "i3", "m4", "m5", "p2", "p3", "r3", "r4", "r5", "z1d"}
}

// fee returns EMR's fee in a region, and whether it is computed. What the source has goes
// before the rule, since it is AWS's own figure: of old types the rule is a little off.
// GovCloud has fees of its own, so that the commercial one does not stand in for them.
func (t TypePrices) fee(region string) (fee MicroUSD, byRule bool) {
	if own, found := t.FeeIn[region]; found {
		return own, false
	}
	if t.Fee > 0 && !strings.HasPrefix(region, govCloudPrefix) {
		return t.Fee, false
	}
	return t.feeByRule(region), true
}

// feeByRule computes EMR's fee in a region, rounded to a millionth. It is zero for a type
// without a price in us-east-1.
func (t TypePrices) feeByRule(region string) MicroUSD {
	const whole = 100 // percent
	family, _, _ := strings.Cut(t.Name, ".")
	percent, of := MicroUSD(feePercent), MicroUSD(whole)
	if family == "m4" {
		percent = feePercentM4
	}
	if strings.HasPrefix(region, govCloudPrefix) {
		percent, of = percent*govCloudPercent, of*whole
	}
	fee := (t.OnDemand[feeRegion]*percent + of/2) / of
	if slices.ContainsFunc(cappedFamilies(), func(c string) bool { return strings.HasPrefix(family, c) }) {
		fee = min(fee, feeCap)
	}
	return fee
}
