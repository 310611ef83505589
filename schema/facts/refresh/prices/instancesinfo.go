package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"regexp"

	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// instancesFile is the data of instances.vantage.sh (ec2instances.info), which joins AWS's
// price lists of EC2 and EMR with the Spot Instance Advisor.
const instancesFile = "data/instances.json"

// typeInfo is one instance type of the file.
type typeInfo struct {
	Name    string                `json:"instance_type"`
	Pricing map[string]regionInfo `json:"pricing"` // by region, local zone or Wavelength zone
}

type regionInfo struct {
	Linux struct {
		OnDemand string `json:"ondemand"`
		Saved    *int   `json:"pct_savings_od"` // on spot, in percent: the Advisor's average of a month
	} `json:"linux"`
	EMR struct {
		Fee string `json:"emr"`
	} `json:"emr"`
}

// info is what ec2-instances-info has.
type info struct {
	source facts.PriceSource
	types  map[string]typeFigures
}

// typeFigures are the figures of one type by region.
type typeFigures struct {
	onDemand, fee map[string]facts.MicroUSD
	saved         []int // percent, in any order
}

func readInstancesInfo(ctx context.Context) (info, error) {
	out := info{types: map[string]typeFigures{}}
	m, err := instancesInfo.download(ctx)
	if err != nil {
		return out, err
	}
	date, err := m.date()
	if err != nil {
		return out, err
	}
	out.source = facts.PriceSource{Module: m.path, Version: m.version, Date: date, Has: []string{
		"on-demand prices of the other regions", "EMR's fees", "spot discounts",
	}}
	return out, m.read(instancesFile, func(file io.Reader) error { return out.parse(file) })
}

// parse reads the list type by type: as a whole it is 96 MB of text.
func (i info) parse(file io.Reader) error {
	decoder := json.NewDecoder(file)
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		var t typeInfo
		if err := decoder.Decode(&t); err != nil {
			return err
		}
		figures, err := t.figures()
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		i.types[t.Name] = figures
	}
	return nil
}

// aRegion matches regions, and neither local zones nor Wavelength zones, whose names are
// longer: a stack is in a region.
var aRegion = regexp.MustCompile(`^[a-z]{2}(-gov)?-[a-z]+-\d$`)

func (t typeInfo) figures() (typeFigures, error) {
	out := typeFigures{onDemand: map[string]facts.MicroUSD{}, fee: map[string]facts.MicroUSD{}}
	for name, region := range t.Pricing {
		if !aRegion.MatchString(name) {
			continue
		}
		for _, f := range []struct {
			text string
			into map[string]facts.MicroUSD
		}{{region.Linux.OnDemand, out.onDemand}, {region.EMR.Fee, out.fee}} {
			if f.text == "" {
				continue // the file has none
			}
			amount, err := usd(f.text)
			if err != nil {
				return out, fmt.Errorf("in %s: %w", name, err)
			}
			f.into[name] = amount
		}
		if region.Linux.Saved != nil {
			out.saved = append(out.saved, *region.Linux.Saved)
		}
	}
	return out, nil
}

// usd reads a decimal number of dollars, rounded to a millionth: fees have seven decimals
// where a quarter of a price of five decimals is written out.
func usd(text string) (facts.MicroUSD, error) {
	amount, valid := new(big.Rat).SetString(text)
	if !valid || amount.Sign() <= 0 {
		return 0, fmt.Errorf("%q is no price", text)
	}
	const perUSD = 1_000_000
	amount.Mul(amount, big.NewRat(perUSD, 1)).Add(amount, big.NewRat(1, 2))
	return facts.MicroUSD(new(big.Int).Quo(amount.Num(), amount.Denom()).Int64()), nil
}
