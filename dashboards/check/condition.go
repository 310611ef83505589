package check

import (
	"slices"
	"strings"

	"github.com/VictoriaMetrics/metricsql"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
)

// conditionOf says what must have happened for a query of metrics to have data, by the
// contract; "" if its metrics always exist.
func conditionOf(expr string) string {
	parsed, err := metricsql.Parse(expr)
	if err != nil {
		return "" // the store has said so
	}
	var conditions []string
	metricsql.VisitAll(parsed, func(e metricsql.Expr) {
		selector, is := e.(*metricsql.MetricExpr)
		if !is {
			return
		}
		for _, filters := range selector.LabelFilterss {
			for _, f := range filters {
				m, found := contract.Find(f.Value)
				if f.Label == "__name__" && found && m.OnlyIf != "" && !slices.Contains(conditions, m.OnlyIf) {
					conditions = append(conditions, m.OnlyIf)
				}
			}
		}
	})
	if len(conditions) == 0 {
		return ""
	}
	return "there is data only if " + strings.Join(conditions, ", or if ")
}
