package facts_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema/facts"
)

const mil, cent = facts.MicroUSD(1_000), facts.MicroUSD(10_000)

func TestPricesAreOfTheTypesThatEMRTakes(t *testing.T) {
	var priced, taken []string
	for _, p := range facts.PriceFile().Types {
		priced = append(priced, p.Name)
	}
	for _, one := range facts.Instances().Types {
		taken = append(taken, one.Name)
	}
	require.Equal(t, taken, priced, "run `make facts`")
	require.True(t, slices.IsSorted(priced), "lookups search the list")
	for _, s := range facts.PriceFile().Sources {
		_, err := time.Parse(time.DateOnly, s.Date)
		require.NoError(t, err, s.Module)
		require.NotEmpty(t, s.Has, s.Module)
	}
}

// There is no type without a price in us-east-1. Should one appear that neither source has,
// its name and the reason belong here.
func TestEveryTypeHasAPriceInTheFirstRegion(t *testing.T) {
	for _, one := range facts.Instances().Types {
		p, found := facts.PriceOf("us-east-1", one.Name)
		require.True(t, found, one.Name)
		require.Positive(t, p.EMRFee, one.Name)
	}
}

func TestPricesArePlausible(t *testing.T) {
	regions := map[string]bool{}
	for _, one := range facts.PriceFile().Types {
		for region := range one.OnDemand {
			regions[region] = true
			p, found := facts.PriceOf(region, one.Name)
			require.True(t, found)
			require.Positive(t, p.OnDemand, "%s in %s", one.Name, region)
			require.Positive(t, p.EMRFee, "%s in %s", one.Name, region)
			require.LessOrEqual(t, p.EMRFee, p.OnDemand/2, "%s in %s: the fee is a quarter of a price elsewhere", one.Name, region)
			require.Greater(t, p.SpotDiscount, 0.0, one.Name)
			require.Less(t, p.SpotDiscount, 0.95, one.Name)
			require.Less(t, p.Spot(), p.OnDemand, one.Name)
			require.Equal(t, one.Spot == 0, p.SpotOfAll, one.Name)
		}
		for region := range one.FeeIn {
			require.Contains(t, one.OnDemand, region, "%s has a fee where it has no price", one.Name)
		}
	}
	require.Len(t, regions, 34)
}

// A larger size of a family costs more.
func TestLargerTypesCostMore(t *testing.T) {
	for _, region := range []string{"us-east-1", "eu-central-1", "sa-east-1", "us-gov-west-1"} {
		previous := facts.MicroUSD(0)
		for _, size := range []string{"xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge", "24xlarge"} {
			p, found := facts.PriceOf(region, "m5."+size)
			require.True(t, found, "m5.%s in %s", size, region)
			require.Greater(t, p.OnDemand, previous, "m5.%s in %s", size, region)
			previous = p.OnDemand
		}
	}
}

// Points that somebody read on AWS's pages.
func TestPricesThatAWSPublishes(t *testing.T) {
	for _, point := range []struct {
		region, name  string
		onDemand, fee facts.MicroUSD
	}{
		{"us-east-1", "m5.xlarge", 192_000, 48_000},
		{"us-east-1", "m5.24xlarge", 4_608_000, 270_000},
		{"us-east-1", "c5.xlarge", 170_000, 43_000},
		{"us-east-1", "m6g.xlarge", 154_000, 39_000},
		{"us-east-1", "r6i.32xlarge", 8_064_000, 2_016_000},
		{"us-east-1", "g5.xlarge", 1_006_000, 251_500},
		{"us-east-1", "p3.2xlarge", 3_060_000, 270_000},
		{"sa-east-1", "m5.xlarge", 306_000, 48_000},
	} {
		p, found := facts.PriceOf(point.region, point.name)
		require.True(t, found, point.name)
		require.Equal(t, point.onDemand, p.OnDemand, point.name)
		require.Equal(t, point.fee, p.EMRFee, point.name)
		require.False(t, p.FeeByRule, point.name)
	}
}

// Fees of the source that the rule does not give.
var offTheRule = map[string]string{
	"c1.medium": "23 %", "c1.xlarge": "23 %",
	"c4.large": "26 %", "c4.xlarge": "26 %", "c4.2xlarge": "26 %", "c4.4xlarge": "26 %",
	"m2.xlarge": "rounded up to a mil", "m2.4xlarge": "rounded up to a mil",
	"m3.xlarge": "26 %", "m3.2xlarge": "26 %",
	"r3.xlarge": "27 %", "r3.2xlarge": "27 %",
	"p5.48xlarge": "a quarter of the on-demand price before EC2 lowered it, between the dates of the two sources",
}

// EMR's fees are multiples of a mil (0.001 USD) for older types, and exact for newer ones.
func TestFeeFollowsTheRule(t *testing.T) {
	compared := 0
	for _, one := range facts.PriceFile().Types {
		if one.Fee == 0 {
			continue
		}
		compared++
		rule := one.FeeByRule("us-east-1")
		rounded := (rule + mil/2) / mil * mil
		_, excepted := offTheRule[one.Name]
		require.Equal(t, !excepted, one.Fee == rule || one.Fee == rounded, "%s: fee %d, by the rule %d", one.Name, one.Fee, rule)
	}
	require.Equal(t, 552, compared)
}

// In GovCloud AWS rounds up and down without a pattern, so that a mil is allowed.
func TestFeeFollowsTheRuleInGovCloud(t *testing.T) {
	off := []string{"g4dn.2xlarge", "g4dn.xlarge"} // a quarter of their price in GovCloud
	var found []string
	compared := 0
	for _, one := range facts.PriceFile().Types {
		fee, published := one.FeeIn["us-gov-east-1"]
		if !published {
			continue
		}
		compared++
		if difference := fee - one.FeeByRule("us-gov-east-1"); max(difference, -difference) > mil {
			found = append(found, one.Name)
		}
	}
	require.Equal(t, off, found)
	require.Equal(t, 267, compared)
}

// Elsewhere the fee is that of us-east-1, but for two types in Canada.
func TestFeeIsTheSameInCommercialRegions(t *testing.T) {
	var other []string
	for _, one := range facts.PriceFile().Types {
		for region := range one.FeeIn {
			if !strings.HasPrefix(region, "us-gov-") {
				other = append(other, region+" "+one.Name)
			}
		}
	}
	require.Equal(t, []string{"ca-central-1 c4.large", "ca-central-1 c4.xlarge"}, other)
}

func TestFeeOfTypesThatTheSourceLacks(t *testing.T) {
	p, found := facts.PriceOf("us-east-1", "r8i.xlarge")
	require.True(t, found)
	require.True(t, p.FeeByRule)
	require.InDelta(t, float64(p.OnDemand)/4, float64(p.EMRFee), 1)
	require.True(t, p.SpotOfAll)
	gov, found := facts.PriceOf("us-gov-west-1", "m5.xlarge")
	require.True(t, found)
	require.True(t, gov.FeeByRule, "the source has no fee of this region")
	require.Equal(t, facts.MicroUSD(57_600), gov.EMRFee)
}

func TestPricesThatNobodyHas(t *testing.T) {
	for _, c := range [][2]string{{"eu-west-1", "m9.xlarge"}, {"eu-nowhere-1", "m5.xlarge"}, {"eu-west-1", "g7.2xlarge"}} {
		_, found := facts.PriceOf(c[0], c[1])
		require.False(t, found, c)
	}
}

func TestMoney(t *testing.T) {
	for amount, want := range map[facts.MicroUSD]string{
		0: "$0.00", cent: "$0.01", cent/2 - 1: "$0.00", cent / 2: "$0.01", 1_234_567_890: "$1234.57", -192_000: "-$0.19", 999_999: "$1.00",
	} {
		require.Equal(t, want, amount.String())
	}
	for text, amount := range map[string]facts.MicroUSD{
		"0.192": 192_000, "1": 1_000_000, "0.000001": 1, "123.19496": 123_194_960, "-0.5": -500_000, "0": 0,
	} {
		var read facts.MicroUSD
		require.NoError(t, json.Unmarshal([]byte(text), &read), text)
		require.Equal(t, amount, read, text)
		written, err := json.Marshal(amount)
		require.NoError(t, err)
		require.Equal(t, text, string(written))
	}
	for _, text := range []string{"0.0000001", `"0.1"`, "1e3", "null"} {
		var read facts.MicroUSD
		require.Error(t, json.Unmarshal([]byte(text), &read), text)
	}
}
