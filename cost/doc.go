// Package cost estimates from a configuration what a stack costs before it exists: each
// cluster's instances, EMR's fee and volumes, and what the control node and the network
// cost, at least, as a rule and at most. It counts what has a price per hour. Traffic,
// requests, and objects in S3 cost what they are used, and are not counted.
package cost

import (
	"slices"

	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// MonthHours is AWS's month: 365 days of 24 hours, a twelfth of them (AWS Pricing
// Calculator, Assumptions).
const MonthHours = 730

// Range is an amount of USD that is uncertain.
type Range struct {
	Least   facts.MicroUSD `json:"least"`
	Typical facts.MicroUSD `json:"typical"`
	Most    facts.MicroUSD `json:"most"`
}

// Always returns an amount that is certain.
func Always(amount facts.MicroUSD) Range { return Range{amount, amount, amount} }

func (r Range) plus(o Range) Range {
	return Range{r.Least + o.Least, r.Typical + o.Typical, r.Most + o.Most}
}

// Counts are numbers of instances that are uncertain.
type Counts struct {
	Least   int `json:"least"`
	Typical int `json:"typical"`
	Most    int `json:"most"`
}

// times returns what so many instances cost, each at the price of its column.
func (c Counts) times(price Range) Range {
	return Range{
		price.Least * facts.MicroUSD(c.Least), price.Typical * facts.MicroUSD(c.Typical), price.Most * facts.MicroUSD(c.Most),
	}
}

// Kinds of lines.
const (
	Instances = "instances"
	EMRFee    = "EMR"
	Volumes   = "volumes"
)

// Line is one item of an estimate.
type Line struct {
	Path   string `json:"path"` // key of the configuration that causes it
	Kind   string `json:"kind"`
	Detail string `json:"detail"` // 6 × r5.xlarge on demand
	Hour   Range  `json:"hour"`
}

// Part is what one cluster costs, or what the stack costs beside its clusters.
type Part struct {
	Name        string   `json:"name"`
	Lines       []Line   `json:"lines"`
	Hours       Hours    `json:"hoursPerMonth"`
	Hour        Range    `json:"hour"`
	Month       Range    `json:"month"`
	Assumptions []string `json:"assumptions"`
	Unpriced    []string `json:"unpriced"` // what has no price in the tables
}

// Estimate is what a stack costs.
type Estimate struct {
	Region   string   `json:"region"`
	Prices   []string `json:"prices"` // sources with their dates
	Clusters []Part   `json:"clusters"`
	Stack    Part     `json:"stack"`
	Month    Range    `json:"month"`
}

// Unpriced lists what has no price, in all parts.
func (e Estimate) Unpriced() []string {
	out := slices.Clone(e.Stack.Unpriced)
	for _, c := range e.Clusters {
		out = append(out, c.Unpriced...)
	}
	return out
}

// add appends a line and its amount.
func (p *Part) add(path, kind, detail string, hour Range) {
	p.Lines = append(p.Lines, Line{path, kind, detail, hour})
	p.Hour = p.Hour.plus(hour)
}

// finish computes the month.
func (p *Part) finish(h Hours) {
	p.Hours = h
	p.Month = Range{h.Least.of(p.Hour.Least), h.Typical.of(p.Hour.Typical), h.Most.of(p.Hour.Most)}
}
