package panel

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/logs"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// Spec is what every panel must define.
type Spec struct {
	Title string
	Unit  Unit
	Width int // of 24 columns

	// The help text. Every part is a full sentence.
	Shows string // what the panel shows
	Bad   string // what bad looks like
	Next  string // what to do next

	// The rest is optional.

	// EmptyWhenHealthy names the fault that fills a panel which is empty while
	// all is well.
	EmptyWhenHealthy string

	Height int     // in Grafana's grid units; 0 is the kind's default
	Limits []Limit // colour steps, ascending, as StepsOf makes them of a rule; the panel is green below the first
	Max    float64 // upper end of the axis; 0 = from the data
	Links  []Link  // links of each value
	Texts  []Text  // words shown instead of values
	Stack  bool    // only for parts of a whole
	Styles []Style // names and colours of series
	Past   string  // length of a time range of its own, such as "7d", instead of the dashboard's
}

// Style is how the series of a name looks; the name is what the query's legend yields.
type Style struct {
	Series string
	Word   string // shown instead of the name
	Color  Color
}

// Limit colours values from Value on.
type Limit struct {
	Value float64
	Color Color
}

// Color is a Grafana colour name.
type Color string

// The colours mean healthy, needs attention, needs action.
const (
	Green  Color = "green"
	Orange Color = "orange"
	Red    Color = "red"
)

// Further colours, which tell series apart and mean nothing else.
const (
	Blue   Color = "blue"
	Purple Color = "purple"
	Yellow Color = "yellow"
	Gray   Color = "#8e8e8e"
)

// Text shows a word instead of a value.
type Text struct {
	Value string
	Word  string
	Color Color
}

// Panel is a panel ready to be placed in a Row.
type Panel struct {
	spec    Spec
	queries []Query
	base    dashboard.Panel
	err     error
}

// Heights of the kinds, in grid units.
const (
	heightStat   = 4
	heightSeries = 8
	heightWide   = 10
)

// newPanel builds a panel with a default height.
func newPanel(spec Spec, height int, builder cog.Builder[dashboard.Panel], queries []Query) Panel {
	spec.Height = cmp.Or(spec.Height, height)
	base, err := builder.Build()
	return Panel{spec: spec, queries: queries, base: base, err: err}
}

// TimeSeries draws values over time.
func TimeSeries(spec Spec, queries ...Query) Panel {
	b := timeseries.NewPanelBuilder().
		LineWidth(1).FillOpacity(10).ShowPoints(common.VisibilityModeAuto).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).
			DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom)).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending))
	if spec.Stack {
		b = b.Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal))
	}
	if len(spec.Limits) > 0 {
		b = b.ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed))
	}
	return newPanel(spec, heightSeries, b, queries)
}

// Stat shows one number per series.
func Stat(spec Spec, queries ...Query) Panel {
	b := stat.NewPanelBuilder().
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		GraphMode(common.BigValueGraphModeNone).ColorMode(common.BigValueColorModeValue).
		TextMode(common.BigValueTextModeValueAndName).Orientation(common.VizOrientationAuto)
	return newPanel(spec, heightStat, b, queries)
}

// Bars shows one bar per series, for parts of a whole at one time.
func Bars(spec Spec, queries ...Query) Panel {
	b := bargauge.NewPanelBuilder().
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		DisplayMode(common.BarGaugeDisplayModeBasic).ValueMode(common.BarGaugeValueModeText).
		Orientation(common.VizOrientationHorizontal).Min(0)
	return newPanel(spec, heightSeries, b, queries)
}

// Column is one column of values in a Table.
type Column struct {
	Title  string
	Unit   Unit
	Query  Query // one value per row
	Limits []Limit
}

// Table shows one row per set of labels and one column per query, each with its
// own unit. The spec's unit applies to columns without one.
func Table(spec Spec, columns ...Column) Panel {
	b := table.NewPanelBuilder().ShowHeader(true)
	queries := make([]Query, 0, len(columns))
	for i, column := range columns {
		query := column.Query.table()
		query.time = cmp.Or(column.Unit, spec.Unit) == UnitTime
		queries = append(queries, query)
		b = b.OverrideByName("Value #"+letter(i), column.properties())
	}
	p := newPanel(spec, heightWide, b, queries)
	p.base.Transformations = []dashboard.DataTransformerConfig{
		{Id: "merge", Options: map[string]any{}},
		{Id: "organize", Options: map[string]any{"excludeByName": map[string]bool{"Time": true}}},
	}
	return p
}

func (c Column) properties() []dashboard.DynamicConfigValue {
	properties := []dashboard.DynamicConfigValue{{Id: "displayName", Value: c.Title}}
	if c.Unit != "" {
		properties = append(properties, dashboard.DynamicConfigValue{Id: "unit", Value: string(c.Unit)})
	}
	if len(c.Limits) > 0 {
		properties = append(properties,
			dashboard.DynamicConfigValue{Id: "thresholds", Value: thresholds(c.Limits)},
			dashboard.DynamicConfigValue{Id: "custom.cellOptions", Value: map[string]string{"type": "color-text"}})
	}
	return properties
}

// Lines shows log lines, newest first.
func Lines(spec Spec, queries ...Query) Panel {
	b := logs.NewPanelBuilder().ShowTime(true).WrapLogMessage(true).EnableLogDetails(true).
		SortOrder(common.LogsSortOrderDescending).DedupStrategy(common.LogsDedupStrategyNone)
	return newPanel(spec, heightWide, b, queries)
}

// TraceList shows the traces that a search finds, one row each.
func TraceList(spec Spec, queries ...Query) Panel {
	return newPanel(spec, heightWide, table.NewPanelBuilder().ShowHeader(true), queries)
}

// FlameGraph shows merged stacks. The SDK has no package for this panel.
func FlameGraph(spec Spec, queries ...Query) Panel {
	return newPanel(spec, heightWide, plain("flamegraph"), queries)
}

// plain is a panel of a plugin that has no SDK builder.
type plain string

// Build returns the panel and never fails.
func (p plain) Build() (dashboard.Panel, error) {
	base := dashboard.NewPanel()
	base.Type = string(p)
	return *base, nil
}

func (p Panel) validate() error {
	errs := []error{p.err, p.spec.validateHelp()}
	if p.spec.Title == "" {
		errs = append(errs, errors.New("title is empty"))
	}
	if p.spec.Unit == "" {
		errs = append(errs, errors.New("unit is empty: choose one of panel.Unit*"))
	}
	if len(p.queries) == 0 {
		errs = append(errs, errors.New("no queries"))
	}
	for i, limit := range p.spec.Limits {
		if i > 0 && limit.Value <= p.spec.Limits[i-1].Value {
			errs = append(errs, fmt.Errorf("limits[%d] = %v is not above the previous: sort the limits", i, limit.Value))
		}
	}
	return errors.Join(errs...)
}

// Spec returns the panel's definition.
func (p Panel) Spec() Spec { return p.spec }
