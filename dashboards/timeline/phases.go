package timeline

import (
	"github.com/emr-observatory/emr-observatory/dashboards/job"
	"strconv"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
)

func phases() panel.Row {
	return panel.Row{Title: "Phases", Panels: []panel.Panel{
		phaseTimeline(),
		panel.Bars(panel.Spec{
			Title: "Share of the wall time", Unit: panel.UnitShare, Width: 12, Max: 1, Styles: styles(), Links: links.Job(),
			Shows: "Share of the wall time by phase. Each instant counts for one phase, so the shares add up to 1.",
			Bad:   "Compute is not the largest part.",
			Next:  "Start with the largest other part: its row below says why.",
		}, panel.Metrics(scope.By("phase").Latest(job.Metric(contract.PhaseShare)), "{{phase}}").Instant()),
		phaseSeconds(),
	}}
}

// color is a phase's in panels.
func color(phase platform.Phase) panel.Color {
	switch phase {
	case platform.PhaseSubmit:
		return panel.Yellow
	case platform.PhaseResourceWait:
		return panel.Orange
	case platform.PhaseCompute:
		return panel.Green
	case platform.PhaseWrite:
		return panel.Blue
	case platform.PhaseIdle:
		return panel.Gray
	case platform.PhaseDriver:
	}
	return panel.Purple
}

// states are the values of the metric of the current phase.
func states() []panel.Text {
	var texts []panel.Text
	for value, phase := range platform.Phases() {
		texts = append(texts, panel.Text{Value: strconv.Itoa(value), Word: phase.Word(), Color: color(phase)})
	}
	return texts
}

// styles are the looks of series that are named by their phase.
func styles() []panel.Style {
	var all []panel.Style
	for _, phase := range platform.Phases() {
		all = append(all, panel.Style{Series: string(phase), Word: phase.Word(), Color: color(phase)})
	}
	return all
}

func phaseTimeline() panel.Panel {
	trace := panel.Field(contract.InfoTrace)
	return panel.StateTimeline(panel.Spec{
		Title: "Phase over time", Unit: panel.UnitNone, Width: 24, Texts: states(),
		Links: append([]panel.Link{links.Trace(trace)}, links.Job()...),
		Shows: "The phase of the application at each export, while it runs.",
		Bad:   "Long stretches of wait, of the driver alone, or of write.",
		Next:  "Open the exact timeline in the application's trace, which shows phases shorter than an export interval, too.",
	}, panel.Metrics(
		scope.Named(scope.PerApplication().Max(job.Metric(platform.MetricPhaseState)),
			scope.Newest(job.Metric(platform.MetricApplicationInfo), contract.InfoTrace), contract.InfoTrace),
		panel.Legend(platform.SparkAppID)))
}

func phaseSeconds() panel.Panel {
	var queries []panel.Query
	for _, phase := range platform.Phases() {
		queries = append(queries, panel.Metrics(job.Total(phase.Metric()), string(phase)).Instant())
	}
	return panel.Stat(panel.Spec{
		Title: "Time by phase", Unit: panel.UnitSeconds, Width: 12, Height: 8, Styles: styles(), Links: links.Job(),
		Shows: "Time in each phase, so far or at the end of the application.",
		Bad:   "More seconds of wait or write than earlier runs had.",
		Next:  "Compare with \"Phase over time\" for when it was spent.",
	}, queries...)
}
