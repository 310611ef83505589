// Package verdict says in one clause what cost an application most, from what the rules find
// in it by its metrics: the finding, the most time that it may have saved, the settings and the
// recipe. The status page, `observatory submit` and the span of a step all have it from here.
//
// It asks no store: it renders a query and reads its answer. What only the history shows is
// judged by package profiler/judge.
package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

// Verdict is what the rules find in an application by its metrics.
type Verdict struct {
	// Text is the clause.
	Text string `json:"text"`
	// Findings are all, those that claim most time first, then those that claim none.
	Findings []Finding `json:"findings"`
	// NeedHistory are the rules that no metric can judge. The profiler judges them.
	NeedHistory []rules.ID `json:"needHistory"`
}

// Finding is what one rule found.
type Finding struct {
	Rule  rules.ID `json:"rule"`
	Title string   `json:"title"`
	// Severity is by the same law as that of findings in the tables.
	Severity rules.Severity `json:"severity"`
	// Impact is the most time that it may have saved, in seconds, and Share that of the wall
	// clock. Both are nil if it is not known.
	Impact *float64 `json:"impactSeconds,omitempty"`
	Share  *float64 `json:"share,omitempty"`
	// Value is what was measured instead, in Unit.
	Value *float64   `json:"value,omitempty"`
	Unit  rules.Unit `json:"unit,omitempty"`
	// Settings are the properties that cure it, with a value where one suits every job.
	Settings []string     `json:"settings,omitempty"`
	Recipe   rules.Recipe `json:"recipe,omitempty"`
}

// RuleLabel is the label of Query's series that names the rule.
const RuleLabel = "rule"

// Query asks for what all rules find in applications, a series for each finding with the labels
// spark_app_id and RuleLabel. window is how old a last value may be, such as 2h: an application
// that has ended sends no more.
//
// The ids are in it once, as a template of MetricsQL: VictoriaMetrics refuses queries of more than
// 16 KiB (-search.maxQueryLen).
func Query(applications []string, window string) string {
	return query(applications, window, rules.Rule.Found)
}

// QueryWithin is Query of what the applications did within the window alone.
func QueryWithin(applications []string, window string) string {
	return query(applications, window, rules.Rule.FoundWithin)
}

func query(applications []string, window string, found func(r rules.Rule, matchers, window string) string) string {
	const matchers = "these"
	var all []string
	for _, rule := range rules.All() {
		if expression := found(rule, matchers, window); expression != "" {
			all = append(all, fmt.Sprintf("label_set(max by (%s) (%s), %q, %q)", platform.SparkAppID.Metric(), expression, RuleLabel, rule.ID))
		}
	}
	return fmt.Sprintf("WITH (%s = {%s=~%q}) union(%s)", matchers, platform.SparkAppID.Metric(), strings.Join(applications, "|"),
		strings.Join(all, ", "))
}

// Of judges an application by the values of its series of Query and its wall-clock time, in
// seconds.
func Of(found map[rules.ID]float64, wall float64) Verdict {
	v := Verdict{Findings: []Finding{}}
	for _, rule := range rules.All() {
		switch value, fires := found[rule.ID]; {
		case fires:
			v.Findings = append(v.Findings, finding(rule, value, wall))
		case rule.Query == (rules.Query{}) && len(rule.Columns) > 0:
			v.NeedHistory = append(v.NeedHistory, rule.ID)
		}
	}
	slices.SortStableFunc(v.Findings, func(a, b Finding) int { return cmp.Compare(claim(b), claim(a)) })
	v.Text = v.text()
	return v
}

func finding(rule rules.Rule, value, wall float64) Finding {
	f := Finding{Rule: rule.ID, Title: rule.Title, Severity: rules.Warning, Recipe: rule.Recipe, Settings: settings(rule)}
	switch {
	case rule.Query.Impact != "":
		f.Impact = new(min(value, wall))
		if wall > 0 {
			f.Share = new(*f.Impact / wall)
		}
	case rule.Query.CoreHours != "":
		f.Value, f.Unit = new(value), rules.CoreHours
	default:
		f.Value, f.Unit = new(value), rule.Running().Unit
	}
	if f.critical(rule) {
		f.Severity = rules.Critical
	}
	return f
}

// critical reports whether a finding is beyond the law of critical ones, or, of what claims
// neither time nor core-hours, beyond its rule's critical limit.
func (f Finding) critical(rule rules.Rule) bool {
	law := rules.Severities()[0]
	switch {
	case f.Impact != nil:
		return f.Share != nil && *f.Share >= law.Share && *f.Impact*1e3 >= law.Milliseconds
	case f.Unit == rules.CoreHours:
		return *f.Value >= law.CoreHours
	}
	limit := rule.Running().Limit
	return !limit.LessIsWorse() && *f.Value >= limit.Critical || limit.LessIsWorse() && *f.Value <= limit.Critical
}

// settings lists what cures a finding on every release: the metrics do not say which one it is.
func settings(rule rules.Rule) (all []string) {
	for _, c := range rule.Changes {
		switch {
		case c.Since != "" || c.Until != "":
		case c.Value != "":
			all = append(all, c.Property+"="+c.Value)
		default:
			all = append(all, c.Property)
		}
	}
	return all
}

// claim is by what findings are ordered; those without a time come last.
func claim(f Finding) float64 {
	if f.Impact == nil {
		return -1
	}
	return *f.Impact
}

// text is the clause about the first finding. The first setting is that which suits most jobs.
func (v Verdict) text() string {
	text := "nothing is beyond a rule's limit"
	if len(v.Findings) > 0 {
		f := v.Findings[0]
		text = strings.ToLower(f.Title[:1]) + f.Title[1:] + " " + f.Cost()
		if len(f.Settings) > 0 {
			text += ", try " + f.Settings[0]
		}
		if f.Recipe != "" {
			text += " (" + f.Recipe.Path() + ")"
		}
	}
	if n := len(v.NeedHistory); n > 0 {
		text += fmt.Sprintf("; %d checks need the history", n)
	}
	return text
}

// Cost says what the finding cost, or what was measured.
func (f Finding) Cost() string {
	if f.Impact == nil {
		return rules.Format(*f.Value, f.Unit)
	}
	text := "cost up to " + rules.Format(*f.Impact, rules.Seconds)
	if f.Share != nil {
		text += " (" + rules.Format(*f.Share, rules.Share) + ")"
	}
	return text
}
