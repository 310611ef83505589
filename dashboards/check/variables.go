package check

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// variable is one entry of templating.list.
type variable struct {
	Name       string          `json:"name"`
	Type       string          `json:"type"`
	Query      json.RawMessage `json:"query"` // a string, or an object with one
	Datasource datasource      `json:"datasource"`
	Multi      bool            `json:"multi"`
	IncludeAll bool            `json:"includeAll"`
	AllValue   string          `json:"allValue"`
	Sort       int             `json:"sort"`
	Hide       int             `json:"hide"`
}

// derived reports whether the variable has all values of its query, and no drop-down: it
// follows those above it.
func (v variable) derived() bool { return v.Hide == hideVariable && v.IncludeAll && v.AllValue == "" }

const hideVariable = 2 // Grafana's VariableHide

// descends reports whether Grafana lists the values from the last one on: half of its
// orders, each the even number after its ascending one (VariableSort).
func (v variable) descends() bool { return v.Sort > 0 && v.Sort%2 == 0 }

func (v variable) queryText() string {
	var text string
	if json.Unmarshal(v.Query, &text) == nil {
		return text
	}
	var object struct {
		Query string `json:"query"`
	}
	if json.Unmarshal(v.Query, &object) == nil {
		return object.Query
	}
	return ""
}

// maxListed bounds how many values are selected individually.
const maxListed = 50

// variables resolves the dashboard's variables in order, each with those above
// it at "All". listed is nil if no variable offers values to select.
func (r runner) variables(ctx context.Context, d dashboard) (all, listed values, results []Result) {
	all, listed = values{}, values{}
	multiple := false
	for _, v := range d.Templating.List {
		options, result := r.resolve(ctx, v, all)
		if result != nil {
			results = append(results, *result)
		}
		if fixed, ok := r.options.Variables[v.Name]; ok {
			all[v.Name] = selection{values: fixed, single: !v.Multi && !v.IncludeAll}
			listed[v.Name] = all[v.Name]
			continue
		}
		all[v.Name] = v.allOf(options)
		listed[v.Name] = all[v.Name]
		if v.derived() { // by what is selected individually above it
			options, result = r.resolve(ctx, v, listed)
			if result != nil {
				result.Selection = SelectionListed
				results = append(results, *result)
			}
			listed[v.Name] = selection{values: options}
			continue
		}
		if v.Multi && len(options) > 0 {
			multiple = true
			listed[v.Name] = selection{values: options[:min(len(options), maxListed)]}
		}
	}
	if !multiple {
		listed = nil
	}
	return all, listed, results
}

// allOf selects "All", or the first value if the variable has no "All".
func (v variable) allOf(options []string) selection {
	switch {
	case v.IncludeAll && v.AllValue != "":
		return selection{raw: v.AllValue}
	case v.IncludeAll:
		return selection{values: options}
	case len(options) > 0:
		return selection{values: options[:1], single: !v.Multi}
	}
	return selection{values: []string{""}, single: true}
}

// resolve lists a variable's values. The result is nil for a variable that
// queries no store.
func (r runner) resolve(ctx context.Context, v variable, above values) ([]string, *Result) {
	switch v.Type {
	case "custom", "interval", "constant", "textbox":
		var options []string
		for option := range strings.SplitSeq(v.queryText(), ",") {
			_, value, found := strings.Cut(option, " : ") // "shown : value"
			if !found {
				value = option
			}
			options = append(options, strings.TrimSpace(value))
		}
		return options, nil
	case "datasource":
		return []string{v.queryText()}, nil
	}
	result := Result{
		Dashboard: r.slug, Panel: VariablePanel, Query: "$" + v.Name,
		Selection: SelectionAll, Datasource: v.Datasource.Type, Expr: v.queryText(),
	}
	fresh, found, expr, err := r.labelValues(ctx, v, above)
	if expr != "" {
		result.Expr = expr
	}
	result = result.judge(found, err, "")
	return fresh, &result
}

// labelValuesQuery is Grafana's label_values([selector, ]label).
var labelValuesQuery = regexp.MustCompile(`(?s)^\s*label_values\(\s*(?:(.+),)?\s*([\w.]+)\s*\)\s*$`)

func (r runner) labelValues(ctx context.Context, v variable, above values) ([]string, finding, string, error) {
	if v.Type != "query" || v.Datasource.Type != metricsPlugin {
		return nil, finding{}, "", fmt.Errorf(
			"variable of type %q on %q: the check supports query variables on %s, and custom, interval, constant and textbox ones",
			v.Type, v.Datasource.Type, metricsPlugin)
	}
	match := labelValuesQuery.FindStringSubmatch(v.queryText())
	if match == nil {
		return nil, finding{}, "", fmt.Errorf("variable query %q: the check supports label_values(selector, label)", v.queryText())
	}
	w := newWindow(r.options.Since, r.options.Until)
	selector := match[1]
	if selector != "" {
		var err error
		if selector, err = interpolate(selector, above, w, pluginFormat(metricsPlugin)); err != nil {
			return nil, finding{}, "", err
		}
	}
	store := metricsStore{client{r.options.Endpoints.Metrics, r.options.Client}}
	expr := fmt.Sprintf("label_values(%s, %s)", selector, match[2])
	listed, fresh, err := store.labelValues(ctx, selector, match[2], w)
	if err != nil {
		return nil, finding{}, expr, err
	}
	// A value counts if Grafana lists it and a sample within the window has it.
	fresh = slices.DeleteFunc(fresh, func(value string) bool { return !slices.Contains(listed, value) })
	slices.Sort(fresh)
	if v.descends() {
		slices.Reverse(fresh)
	}
	found := finding{samples: len(fresh), series: len(listed), stale: len(fresh) == 0 && len(listed) > 0}
	if v.derived() { // nobody selects among its values: the panels have those that Grafana lists
		return listed, found, expr, nil
	}
	return fresh, found, expr, nil
}
