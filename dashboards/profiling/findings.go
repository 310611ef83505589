package profiling

import (
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/rules"
)

// wholeRange is the window of the rules' queries: an application that has ended has its last
// values anywhere in the dashboard's time range.
const wholeRange = "$__range"

func findings() panel.Row {
	seconds, share := found(func(r rules.Rule) string {
		if r.Query.Impact == "" {
			return ""
		}
		return r.Found(scope.OneApplication().Matchers(), wholeRange)
	}), " / on () group_left () max("+rules.Wall(scope.OneApplication().Matchers(), wholeRange)+")"
	events := found(func(r rules.Rule) string {
		if r.Query.Impact != "" {
			return ""
		}
		return r.Found(scope.OneApplication().Matchers(), wholeRange)
	})
	return panel.Row{Title: "Findings", Panels: []panel.Panel{
		panel.Table(panel.Spec{
			Title: "Findings", Unit: panel.UnitSeconds, Width: 14, Links: recipeLinks(),
			Shows: "What the rules that metrics can judge find in the application so far, the most costly first. The cost is the most time " +
				"that it may have saved.",
			Bad:              "Any, from the top: a cost of seconds in a job of hours is not listed.",
			Next:             "Open the recipe of the first one. Rules that need the history are judged after the job: table findings.",
			EmptyWhenHealthy: "A rule finds something.",
		},
			panel.Column{Title: "Cost", Unit: panel.UnitSeconds, Query: panel.Metrics("sort_desc("+seconds+")", "")},
			panel.Column{Title: "Share of the wall time", Unit: panel.UnitShare, Query: panel.Metrics(seconds+share, "")}),
		panel.Table(panel.Spec{
			Title: "Events", Unit: panel.UnitNone, Width: 10, Links: recipeLinks(),
			Shows:            "What the rules find of which the cost in time is not known: a count, a share or core-hours, by the column unit.",
			Bad:              "Any: executors that were lost, requests that S3 refused, cores that nobody used.",
			Next:             "Open the recipe.",
			EmptyWhenHealthy: "A rule finds an event.",
		},
			panel.Column{Title: "Measured", Unit: panel.UnitNone, Query: panel.Metrics("sort_desc("+events+")", "")}),
		causes(),
	}}
}

// causes shows why the application waited.
func causes() panel.Panel {
	var all []string
	for _, c := range rules.WaitCauses() {
		all = append(all, fmt.Sprintf("label_set(max(%s), %q, %q, %q, %q)", c.Seconds(scope.OneApplication().Matchers(), wholeRange),
			"cause", c.Title, "advice", c.Advice))
	}
	return panel.Table(panel.Spec{
		Title: "Causes of the wait", Unit: panel.UnitSeconds, Width: 24, Height: 6, Links: links.Job(),
		Shows:            "For how long each reason held why YARN gave no containers while the application waited. From EMR 7.8 on.",
		Bad:              "A minute or more. Two reasons can hold at the same time.",
		Next:             "Do what the row says, and compare with the pending containers in the EMR Overview.",
		EmptyWhenHealthy: "The application waits for resources.",
	}, panel.Column{Title: "Held for", Unit: panel.UnitSeconds, Query: panel.Metrics("sort_desc(union("+strings.Join(all, ", ")+"))", "")})
}

// found joins the findings of rules, a series for each.
func found(of func(rules.Rule) string) string {
	var all []string
	for _, r := range rules.All() {
		if expression := of(r); expression != "" {
			all = append(all, fmt.Sprintf("label_set(max(%s), %q, %q, %q, %q, %q, %q)", expression,
				"rule", r.Title, "unit", unitOf(r), links.RecipeLabel, string(r.Recipe)))
		}
	}
	return "union(" + strings.Join(all, ", ") + ")"
}

// unitOf is the unit of what Found returns.
func unitOf(r rules.Rule) string {
	switch {
	case r.Query.Impact != "":
		return string(rules.Seconds)
	case r.Query.CoreHours != "":
		return string(rules.CoreHours)
	}
	return string(r.Running().Unit)
}

func recipeLinks() []panel.Link {
	return append([]panel.Link{links.Recipe()}, links.Job()...)
}
