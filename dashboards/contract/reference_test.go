package contract

import (
	"fmt"
	"strings"
)

// Reference renders the table as docs/reference/emitted-metrics.md.
func Reference() []byte {
	var b strings.Builder
	b.WriteString("# What the platform emits\n\n")
	b.WriteString("Generated from `dashboards/contract`; a test fails when this page and the table differ.\n")
	b.WriteString("Dashboards, alerts, recipes and the lake use only what is listed here.\n\n## Metrics\n")
	for _, source := range Sources() {
		fmt.Fprintf(&b, "\n### %s\n\nLabels of every metric: %s.\n\n", source, code(SourceLabels(source)))
		b.WriteString("| metric | type | unit | further labels | since | meaning |\n|---|---|---|---|---|---|\n")
		for _, m := range Metrics() {
			if m.Source == source {
				help := m.Help
				if m.OnlyIf != "" {
					help += " Only if " + m.OnlyIf + "."
				}
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", m.Name, m.Type, m.Unit, code(m.Labels), m.Since, help)
			}
		}
	}
	b.WriteString("\n## Log fields\n\nStream fields are filtered in braces, other fields outside of them.\n\n")
	b.WriteString("| field | stream field | meaning |\n|---|---|---|\n")
	for _, f := range LogFields() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, map[bool]string{true: "yes", false: "no"}[f.Stream], f.Help)
	}
	b.WriteString("\n## Span attributes\n\n| attribute | meaning |\n|---|---|\n")
	for _, a := range SpanAttributes() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", a.Name, a.Help)
	}
	fmt.Fprintf(&b, "\n## Profiles\n\nLabels of every profile: %s.\n\n", code(SourceLabels(SourceJVM)))
	b.WriteString("| profile type | unit | meaning |\n|---|---|---|\n")
	for _, p := range Profiles() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.ID, p.Unit, p.Help)
	}
	return []byte(b.String())
}

func code(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "`" + strings.Join(names, "`, `") + "`"
}
