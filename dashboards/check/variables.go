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
	Query      json.RawMessage `json:"query"` // text, or an object with it
	Datasource datasource      `json:"datasource"`
	Multi      bool            `json:"multi"`
	IncludeAll bool            `json:"includeAll"`
	AllValue   string          `json:"allValue"`
}

func (v variable) text() string {
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

// maxListed bounds how many values are chosen one by one.
const maxListed = 50

// variables resolves the dashboard's variables in their order, each seeing
// those above it at "All". listed is nil if no variable can be chosen by value.
func (r runner) variables(ctx context.Context, d dashboard) (all, listed values, results []Result) {
	all, listed = values{}, values{}
	multiple := false
	for _, v := range d.Templating.List {
		options, result := r.resolve(ctx, v, all)
		if result != nil {
			results = append(results, *result)
		}
		if fixed, ok := r.options.Variables[v.Name]; ok {
			all[v.Name] = chosen{values: fixed, single: !v.Multi && !v.IncludeAll}
			listed[v.Name] = all[v.Name]
			continue
		}
		all[v.Name] = v.everything(options)
		listed[v.Name] = all[v.Name]
		if v.Multi && len(options) > 0 {
			multiple = true
			listed[v.Name] = chosen{values: options[:min(len(options), maxListed)]}
		}
	}
	if !multiple {
		listed = nil
	}
	return all, listed, results
}

// everything is the variable at "All", or at its first value if it has no All.
func (v variable) everything(options []string) chosen {
	switch {
	case v.IncludeAll && v.AllValue != "":
		return chosen{raw: v.AllValue}
	case v.IncludeAll:
		return chosen{values: options}
	case len(options) > 0:
		return chosen{values: options[:1], single: !v.Multi}
	}
	return chosen{values: []string{""}, single: true}
}

// resolve lists a variable's values. The result is nil for a variable that
// asks no store.
func (r runner) resolve(ctx context.Context, v variable, above values) ([]string, *Result) {
	switch v.Type {
	case "custom", "interval", "constant", "textbox":
		var options []string
		for option := range strings.SplitSeq(v.text(), ",") {
			_, value, found := strings.Cut(option, " : ") // "shown : value"
			if !found {
				value = option
			}
			options = append(options, strings.TrimSpace(value))
		}
		return options, nil
	case "datasource":
		return []string{v.text()}, nil
	}
	result := Result{
		Dashboard: r.slug, Panel: VariablePanel, Query: "$" + v.Name,
		Selection: SelectionAll, Datasource: v.Datasource.Type, Expr: v.text(),
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
		return nil, finding{}, "", fmt.Errorf("variable of type %q on %q: this check resolves query variables on %s, and custom, interval, constant and textbox ones",
			v.Type, v.Datasource.Type, metricsPlugin)
	}
	match := labelValuesQuery.FindStringSubmatch(v.text())
	if match == nil {
		return nil, finding{}, "", fmt.Errorf("variable query %q: this check resolves label_values(selector, label)", v.text())
	}
	w := newWindow(r.options.Since, r.options.Until)
	selector := match[1]
	if selector != "" {
		var err error
		if selector, err = interpolate(selector, above, w, formats[metricsPlugin]); err != nil {
			return nil, finding{}, "", err
		}
	}
	store := metricsStore{client{r.options.Endpoints.Metrics, r.options.Client}}
	expr := fmt.Sprintf("label_values(%s, %s)", selector, match[2])
	listed, fresh, err := store.labelValues(ctx, selector, match[2], w)
	if err != nil {
		return nil, finding{}, expr, err
	}
	// A value counts if Grafana lists it and a sample within the time has it.
	fresh = slices.DeleteFunc(fresh, func(value string) bool { return !slices.Contains(listed, value) })
	slices.Sort(fresh)
	return fresh, finding{samples: len(fresh), series: len(listed), stale: len(fresh) == 0 && len(listed) > 0}, expr, nil
}
