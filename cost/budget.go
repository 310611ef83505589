package cost

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// CheckBudget compares a valid configuration's budget with the most that the stack costs.
// With a budget, everything must have a price: what has none would look free.
func CheckBudget(cfg schema.Config, l *violation.List) {
	if cfg.Budget.MonthlyUSD > 0 {
		checkBudget(cfg.Budget, Of(cfg), l)
	}
}

func checkBudget(b schema.Budget, e Estimate, l *violation.List) {
	const path = "budget.monthlyUsd"
	for _, what := range e.Unpriced() {
		l.Require(false, path, b.MonthlyUSD, "must not be set while something has no price, here "+what,
			"remove the budget, or choose what has one")
	}
	within := e.Month.Most <= usd(b.MonthlyUSD)
	text := fmt.Sprintf("be at least %s, which the stack costs at most (%s as a rule)", e.Month.Most, e.Month.Typical)
	remedy := "raise it, or lower what costs most: " + e.dearest()
	if b.Action == schema.BudgetRefuses {
		l.Require(within, path, b.MonthlyUSD, "must "+text, remedy)
	} else {
		l.Warn(within, path, b.MonthlyUSD, "should "+text, remedy)
	}
}

// dearest names the key of a cluster that causes most of the most.
func (e Estimate) dearest() string {
	path, most := e.Stack.Name, e.Stack.Hour.Most
	for _, c := range e.Clusters {
		for _, l := range c.Lines {
			if l.Kind == Instances && l.Hour.Most > most {
				path, most = l.Path, l.Hour.Most
			}
		}
	}
	return path
}
