package rules_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/rules"
)

var update = flag.Bool("update", false, "write the rendered file")

const referenceFile = "../docs/reference/rules.md"

// docs/reference/rules.md is rendered from the table.
func TestReference(t *testing.T) {
	want := reference()
	if *update {
		require.NoError(t, os.WriteFile(referenceFile, []byte(want), 0o600))
	}
	got, err := os.ReadFile(referenceFile)
	require.NoError(t, err, "run `make generate`")
	require.Equal(t, want, string(got), "run `make generate`")
	for _, r := range rules.All() {
		_, explained := bases()[r.Basis]
		require.True(t, explained || r.Basis == "", "explain the basis %s", r.Basis)
	}
}

const preface = `# Rules

Rendered from package rules; edit the table there and run ` + "`make generate`" + `.

A rule says from which value on something needs attention (warning) and action (critical). The findings in the history's
tables and the colours and texts of the dashboards' panels have their limits from here. Columns are those of
[tables.md](tables.md), metrics those of [emitted-metrics.md](emitted-metrics.md).

A source is whose word a limit is, with the date on which it was read. "own" says that no public source was found; beside
another source it says that a part of the limit has none. Floors are further values: below them a rule is not judged, or
judged otherwise. Findings of the route page may be sent to people; those of the route note are in verdicts, on pages and in
answers.

`

func reference() string {
	var b strings.Builder
	b.WriteString(preface)
	b.WriteString("## All rules\n\n| Rule | Title | Signal | Warning | Critical | Source |\n|---|---|---|---|---|---|\n")
	for _, r := range rules.All() {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s | %s | %s |\n", r.ID, r.ID, r.Title, r.Signal,
			rules.Format(r.Warn, r.Unit), rules.Format(r.Critical, r.Unit), shortSources(r.Sources))
	}
	writeSeverities(&b)
	for _, r := range rules.All() {
		writeRule(&b, r)
	}
	return b.String()
}

func writeSeverities(b *strings.Builder) {
	b.WriteString("\n## Severity\n\nA finding is of the first severity of which it cost all that this table says: both the share of the " +
		"application's wall-clock\ntime and the length, or, of findings that cost cores alone, the core-hours. What cost less than the last " +
		"line is no finding.\nWhere the cost is not known, the severity is that of the rule's limit. Findings of severity " +
		string(rules.Info) + " say what could not be judged.\n\n" +
		"| Severity | Share of the wall-clock time | Length | Core-hours | Source |\n|---|---|---|---|---|\n")
	for _, law := range rules.Severities() {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", law.Severity, rules.Format(law.Share, rules.Share),
			rules.Format(law.Milliseconds, rules.Milliseconds), rules.Format(law.CoreHours, rules.CoreHours), sources(law.Sources))
	}
}

func writeRule(b *strings.Builder, r rules.Rule) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n\n- Subject: %s\n", r.ID, r.Title, r.Subject)
	fmt.Fprintf(b, "- Signal: %s (%s)\n- Limit: %s\n- Source: %s\n", r.Signal, unitName(r.Unit), limit(r.Limit, r.Unit), sources(r.Sources))
	if live := r.Live; live != nil {
		fmt.Fprintf(b, "- While an application runs, another signal: %s (%s)\n  - Limit: %s\n  - Source: %s\n",
			live.Signal, unitName(live.Unit), limit(live.Limit, live.Unit), sources(live.Sources))
	}
	fmt.Fprintf(b, "- Judged in the tables: %s\n", cmp.Or(names(r.Columns), "no, "+r.NotInTables))
	fmt.Fprintf(b, "- Judged while it runs: %s\n", cmp.Or(names(r.Metrics), "no, "+r.NotLive))
	if r.Basis != "" {
		fmt.Fprintf(b, "- Cost of a finding: %s (%s)\n", bases()[r.Basis], r.Basis)
	}
	fmt.Fprintf(b, "- Route: %s\n", r.Route)
	if r.Recipe != "" {
		fmt.Fprintf(b, "- Recipe: [%s](../../%s)\n", r.Recipe, r.Recipe.Path())
	}
	writeQuery(b, r.Query.In("", rules.LiveWindow))
	if r.ID == rules.ResourceWait {
		b.WriteString("\nWhy YARN gave no containers meanwhile, by the metrics of the cluster (since EMR 7.8); Spark Profiling shows\n" +
			"for how long each held:\n\n| Cause | What helps |\n|---|---|\n")
		for _, c := range rules.WaitCauses() {
			fmt.Fprintf(b, "| %s | %s |\n", c.Title, c.Advice)
		}
	}
	if len(r.Floors) > 0 {
		b.WriteString("\n| Floor | Value | Meaning |\n|---|---|---|\n")
		for _, f := range r.Floors {
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", f.Name, rules.Format(f.Value, f.Unit), f.Doc)
		}
	}
	if len(r.Changes) > 0 {
		b.WriteString("\n| Setting | Value | When | Classification | Releases |\n|---|---|---|---|---|\n")
		for _, c := range r.Changes {
			value := "depends on the job"
			if c.Value != "" {
				value = "`" + c.Value + "`"
			}
			fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", c.Property, value, cmp.Or(c.When, "always"), c.Classification, releases(c))
		}
	}
}

// writeQuery writes the PromQL of a rule, for all applications.
func writeQuery(b *strings.Builder, q rules.Query) {
	for _, of := range []struct{ title, expression string }{
		{"What is judged while applications run", q.Value}, {"What it cost so far, in seconds", q.Impact},
		{"What it cost so far, in core-hours", q.CoreHours},
	} {
		if of.expression != "" {
			fmt.Fprintf(b, "\n%s:\n\n```promql\n%s\n```\n", of.title, of.expression)
		}
	}
}

// bases says how the cost of a finding is known.
func bases() map[rules.Basis]string {
	return map[rules.Basis]string{
		rules.Exact:  "the length of a phase",
		rules.Shared: "at most the signal's share of the duration of a stage or of the phases in which tasks ran",
		rules.Tail:   "at most the duration of the longest task less that of the median one",
		rules.Cores:  "core-hours, and no wall-clock time",
		rules.Event:  "not known: something happened",
	}
}

// limit renders both values and on which side of them is worse.
func limit(l rules.Limit, unit rules.Unit) string {
	side := "or more"
	if l.LessIsWorse() {
		side = "or less"
	}
	if l.Warn == l.Critical {
		return fmt.Sprintf("critical at %s %s", rules.Format(l.Critical, unit), side)
	}
	return fmt.Sprintf("warning at %s %s, critical at %s %s", rules.Format(l.Warn, unit), side, rules.Format(l.Critical, unit), side)
}

// unitName spells a unit out.
func unitName(unit rules.Unit) string {
	switch unit {
	case rules.Seconds:
		return "seconds"
	case rules.Milliseconds:
		return "milliseconds"
	case rules.Share, rules.Times, rules.Bytes, rules.CoreHours, rules.Count:
	}
	return string(unit)
}

// sources lists sources with dates.
func sources(all []rules.Source) string {
	texts := make([]string, 0, len(all))
	for _, s := range all {
		texts = append(texts, s.String())
	}
	return strings.Join(texts, "; ")
}

// shortSources lists who says it.
func shortSources(all []rules.Source) string {
	texts := make([]string, 0, len(all))
	for _, s := range all {
		texts = append(texts, cmp.Or(s.Who, "own"))
	}
	return strings.Join(texts, ", ")
}

// names lists metrics or columns.
func names(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return "`" + strings.Join(all, "`, `") + "`"
}

// releases renders between which EMR releases a setting holds.
func releases(c rules.Change) string {
	switch {
	case c.Since != "" && c.Until != "":
		return c.Since + " to " + c.Until
	case c.Since != "":
		return c.Since + " and later"
	case c.Until != "":
		return c.Until + " and earlier"
	}
	return "all"
}
