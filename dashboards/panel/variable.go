package panel

import (
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Variable is a drop-down that lists the values of a label.
type Variable struct {
	Name   string // as in queries, "$host"
	Label  string // as shown
	Query  string // Grafana's label_values(selector, label); the selector names the variables above it
	Choice Choice
}

// Choice is how many of a variable's values a reader selects.
type Choice int

// The choices.
const (
	Several   Choice = iota // any number, or all
	OneOrAll                // one, or all
	OneNewest               // exactly one, first the last in their natural order
	Derived                 // always all that its query lists: hidden, and not in the address
)

// allValue is the value of "All": it also matches series without the label.
const allValue = ".*"

func (v Variable) build() dashboard.VariableModel {
	uid, label, all := dataSourceRef(platform.DatasourceMetrics), v.Label, allValue
	several, some := v.Choice == Several || v.Choice == Derived, v.Choice != OneNewest
	refresh, sort := dashboard.VariableRefreshOnTimeRangeChanged, dashboard.VariableSortNaturalAsc
	model := dashboard.VariableModel{
		Type: dashboard.VariableTypeQuery, Name: v.Name, Label: &label, Datasource: &uid,
		Query: &dashboard.StringOrMap{Map: map[string]any{"query": v.Query, "refId": v.Name, "qryType": 1}}, Definition: &v.Query,
		Multi: &several, IncludeAll: &some, Refresh: &refresh, Sort: &sort,
	}
	if !some { // Grafana selects the first value by itself
		newest := dashboard.VariableSortNaturalDesc
		model.Sort = &newest
		return model
	}
	text, value := "All", "$__all"
	if v.Choice == Derived {
		hide, keep := dashboard.VariableHideHideVariable, true
		model.Hide, model.SkipUrlSync = &hide, &keep
	} else {
		model.AllValue = &all
	}
	model.Current = &dashboard.VariableOption{
		Text: dashboard.StringOrArrayOfString{String: &text}, Value: dashboard.StringOrArrayOfString{String: &value},
	}
	if several {
		model.Current.Text = dashboard.StringOrArrayOfString{ArrayOfString: []string{text}}
		model.Current.Value = dashboard.StringOrArrayOfString{ArrayOfString: []string{value}}
	}
	return model
}
