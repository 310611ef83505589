package cost

import (
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// usd returns whole dollars as an amount.
func usd(dollars int) facts.MicroUSD { return facts.MicroUSD(dollars) * 1_000_000 }

// Text says in lines what the stack costs, for the preview: the stack and each cluster by
// the month and the hour, and each group with its market.
func (e Estimate) Text() string {
	lines := []string{
		fmt.Sprintf("A month of this stack costs %s%s; the dearest part is %s.", e.Month, e.without(), e.dearest()),
		fmt.Sprintf("  control node, network, key: %s a month", e.Stack.Month),
	}
	for _, c := range e.Clusters {
		lines = append(lines,
			fmt.Sprintf("  cluster %s: %s a month, %s an hour; it %s", c.Name, c.Month, c.Hour, strings.Join(c.Assumptions, "; ")))
		for _, l := range c.Lines {
			if l.Kind == Instances {
				lines = append(lines, fmt.Sprintf("    %s: %s, %s an hour with EMR's fee and volumes",
					strings.TrimPrefix(l.Path, schema.ClusterPath(c.Name)+"."), l.Detail, c.at(l.Path)))
			}
		}
	}
	for _, what := range e.Unpriced() {
		lines = append(lines, "  without a price: "+what)
	}
	lines = append(lines, "  "+notCounted, "  prices: "+strings.Join(e.Prices, "; "))
	return strings.Join(lines, "\n")
}

// without says that the amounts are too small, if something has no price.
func (e Estimate) without() string {
	if len(e.Unpriced()) == 0 {
		return ""
	}
	return " without what has no price"
}

// at returns what all lines of a path cost in an hour.
func (p Part) at(path string) Range {
	var out Range
	for _, l := range p.Lines {
		if l.Path == path {
			out = out.plus(l.Hour)
		}
	}
	return out
}

// String writes the amounts, or the only one.
func (r Range) String() string {
	if r.Least == r.Most {
		return r.Typical.String()
	}
	return fmt.Sprintf("%s (%s to %s)", r.Typical, r.Least, r.Most)
}
