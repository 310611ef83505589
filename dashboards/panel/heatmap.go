package panel

import (
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
)

// Heatmap draws how many values fell into each bucket of a histogram over time, the
// buckets in the spec's unit and the cells as values per second. Its query is made by
// Buckets.
func Heatmap(spec Spec, query Query) Panel {
	return newPanel(spec, heightWide, heatmapOf(spec.Unit, UnitPerSecond, common.HeatmapCellLayoutAuto), []Query{query})
}

// SeriesHeatmap draws one row per series, coloured by its values in the spec's unit.
func SeriesHeatmap(spec Spec, query Query) Panel {
	return newPanel(spec, heightWide, heatmapOf(UnitNone, spec.Unit, common.HeatmapCellLayoutUnknown), []Query{query})
}

// Colours of the cells: Grafana's own defaults.
const (
	heatmapScheme   = "Oranges"
	heatmapFill     = "dark-orange"
	heatmapExponent = 0.5
	heatmapSteps    = 64
)

func heatmapOf(rows, cells Unit, layout common.HeatmapCellLayout) *heatmap.PanelBuilder {
	return heatmap.NewPanelBuilder().
		Calculate(false).
		RowsFrame(heatmap.NewRowsHeatmapOptionsBuilder().Layout(layout)).
		YAxis(heatmap.NewYAxisConfigBuilder().Unit(string(rows)).AxisPlacement(common.AxisPlacementLeft)).
		CellValues(heatmap.NewCellValuesBuilder().Unit(string(cells))).
		Color(heatmap.NewHeatmapColorOptionsBuilder().Mode(heatmap.HeatmapColorModeScheme).Scheme(heatmapScheme).Fill(heatmapFill).
			Scale(heatmap.HeatmapColorScaleExponential).Exponent(heatmapExponent).Steps(heatmapSteps)).
		Tooltip(heatmap.NewHeatmapTooltipBuilder().Mode(common.TooltipDisplayModeSingle).ShowColorScale(true)).
		ShowLegend()
}
