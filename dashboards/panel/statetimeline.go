package panel

import (
	"errors"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
)

// How Grafana draws a StateTimeline by default, of 1 and of 100.
const (
	timelineRow  = 0.9
	timelineFill = 70
)

// StateTimeline draws one line per series, coloured by the words that Spec.Texts gives
// its values; equal values in a row are one segment.
func StateTimeline(spec Spec, queries ...Query) Panel {
	b := statetimeline.NewPanelBuilder().
		MergeValues(true).ShowValue(common.VisibilityModeAuto).RowHeight(timelineRow).LineWidth(0).FillOpacity(timelineFill).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).
			DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom)).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeSingle).Sort(common.SortOrderNone))
	p := newPanel(spec, heightStat, b, queries)
	if len(spec.Texts) == 0 {
		p.err = errors.Join(p.err, errors.New("texts is empty: name each state"))
	}
	return p
}
