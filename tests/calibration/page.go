package calibration

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/rules"
)

// A ratio of what was saved and claimed needs a note outside of these.
const (
	leastRatio = 0.5
	mostRatio  = 1.5
)

// Reference renders docs/reference/calibration.md.
func Reference(pairs []Pair, results map[string]Result) string {
	var page strings.Builder
	page.WriteString(opening)
	page.WriteString("| Job | Recipe | Rule | Changed | Before | After | Claimed | Saved | Ratio | CPU before | CPU after |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, p := range pairs {
		r, run := results[p.Name]
		if !run {
			continue
		}
		var links []string
		for _, id := range p.Rules() {
			links = append(links, fmt.Sprintf("[`%s`](rules.md#%s)", id, id))
		}
		fmt.Fprintf(&page, "| [%s.py](../../examples/jobs/sick/%s.py) | %s | %s | %s | %s | %s | %s | %s | %.2f | %s | %s |\n",
			p.Name, p.Name, p.Recipe, strings.Join(links, ", "), strings.Join(p.changed(r), "<br>"), seconds(r.Sick.Wall), seconds(r.Cured.Wall),
			seconds(r.Claimed), seconds(r.Saved()), r.ratio(), seconds(r.Sick.CPU), seconds(r.Cured.CPU))
	}
	page.WriteString("\n")
	for _, p := range pairs {
		if r, run := results[p.Name]; run && (p.needsNote(r) || p.Note != "") {
			fmt.Fprintf(&page, "- %s: %s\n", p.Name, p.Note)
		}
	}
	page.WriteString("\n## Which rules fire\n\n1 is the first finding of a run. Rules that fire on no run are left out.\n\nIn the tables:\n\n")
	writeMatrix(&page, pairs, results, func(r Run) []rules.ID { return r.Fired })
	page.WriteString("\nLive, by the metrics that each run left in VictoriaMetrics; its findings with a time come first:\n\n")
	writeMatrix(&page, pairs, results, func(r Run) []rules.ID { return r.Live })
	return page.String()
}

const opening = "# Calibration\n\n" +
	"Rendered from tests/calibration; `OBSERVATORY_LONG=1 go test ./tests/phases -run TestSickAndCured -args -update` runs the\n" +
	"jobs again and records what they show, then `go test ./tests/calibration -update` renders this page.\n\n" +
	"Each job is slow for one reason, the last one for three. It ran twice on the same YARN, on a machine with two cores and\n" +
	"little other work: as it is, and with exactly what the findings of its rules advise. Before and after are the wall clock.\n" +
	"Claimed is the impact of these findings, an upper bound of what can be saved; saved is by how much the second run was\n" +
	"shorter without the time in which both waited for YARN, unless the job is about that. CPU is that of the tasks. Runs of the\n" +
	"same job differ by up to five seconds, so that most do their work several times in a run.\n\n"

// changed returns what the cured run had that the sick one had not.
func (p Pair) changed(r Result) (all []string) {
	for _, change := range r.Changes {
		all = append(all, "`"+change+"`")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Cure)) {
		all = append(all, "`"+name+"="+p.Cure[name]+"` (in words)")
	}
	if p.Code != "" {
		all = append(all, "code: "+p.Code)
	}
	return all
}

// needsNote reports whether what was saved is far from what was claimed.
func (p Pair) needsNote(r Result) bool { return r.ratio() < leastRatio || r.ratio() > mostRatio }

func (r Result) ratio() float64 { return float64(r.Saved()) / float64(max(1, r.Claimed)) }

func seconds(ms int64) string { return fmt.Sprintf("%.1f s", float64(ms)/1000) }

// writeMatrix writes which rules fire on each run.
func writeMatrix(page *strings.Builder, pairs []Pair, results map[string]Result, of func(Run) []rules.ID) {
	var fired []rules.ID
	for _, rule := range rules.All() {
		if slices.ContainsFunc(pairs, func(p Pair) bool {
			return slices.Contains(of(results[p.Name].Sick), rule.ID) || slices.Contains(of(results[p.Name].Cured), rule.ID)
		}) {
			fired = append(fired, rule.ID)
		}
	}
	page.WriteString("| Run |")
	for _, id := range fired {
		fmt.Fprintf(page, " `%s` |", id)
	}
	page.WriteString("\n|---|" + strings.Repeat("---|", len(fired)) + "\n")
	for _, p := range pairs {
		r, run := results[p.Name]
		if !run {
			continue
		}
		for i, run := range []Run{r.Sick, r.Cured} {
			fmt.Fprintf(page, "| %s, %s |", p.Name, []string{"sick", "cured"}[i])
			for _, id := range fired {
				place := ""
				if n := slices.Index(of(run), id); n >= 0 {
					place = fmt.Sprint(n + 1)
				}
				fmt.Fprintf(page, " %s |", place)
			}
			page.WriteString("\n")
		}
	}
}
