package panel

import (
	"errors"
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// maxQueries is the number of letters for refIds.
const maxQueries = 26

// letter returns the refId of a panel's query.
func letter(i int) string { return string(rune('A' + i)) }

// build returns the SDK's panel with its id and position.
func (p Panel) build(id uint32, at dashboard.GridPos) (dashboard.Panel, error) {
	if err := p.validate(); err != nil {
		return dashboard.Panel{}, err
	}
	targets, ref, err := p.targets()
	if err != nil {
		return dashboard.Panel{}, err
	}
	base, text := p.base, p.spec.description()
	base.Id, base.GridPos = &id, &at
	base.Title, base.Description = &p.spec.Title, &text
	base.Datasource, base.Targets = ref, targets
	base.FieldConfig = p.fields()
	if p.spec.Past != "" {
		base.TimeFrom = &p.spec.Past
	}
	return base, nil
}

// targets builds the panel's queries and their shared datasource reference; fails if
// they mix datasources.
func (p Panel) targets() ([]variants.Dataquery, *common.DataSourceRef, error) {
	if len(p.queries) > maxQueries {
		return nil, nil, fmt.Errorf("has %d queries; the maximum is %d", len(p.queries), maxQueries)
	}
	var errs []error
	targets := make([]variants.Dataquery, 0, len(p.queries))
	for i, query := range p.queries {
		target, err := query.build(letter(i))
		errs = append(errs, err)
		targets = append(targets, target)
		if query.datasource != p.queries[0].datasource {
			errs = append(errs, fmt.Errorf("query %s reads %s, query %s reads %s: one datasource per panel",
				letter(i), query.datasource, letter(0), p.queries[0].datasource))
		}
	}
	ref := dataSourceRef(p.queries[0].datasource)
	return targets, &ref, errors.Join(errs...)
}

// fields returns the base's field options, overridden by the spec.
func (p Panel) fields() *dashboard.FieldConfigSource {
	config := dashboard.NewFieldConfigSource()
	if p.base.FieldConfig != nil {
		*config = *p.base.FieldConfig
		if config.Overrides == nil {
			config.Overrides = []dashboard.DashboardFieldConfigSourceOverrides{}
		}
	}
	unit := string(p.spec.Unit)
	config.Defaults.Unit = &unit
	if p.spec.Max > 0 {
		config.Defaults.Max = &p.spec.Max
	}
	if p.spec.EmptyWhenHealthy != "" {
		none := "none"
		config.Defaults.NoValue = &none
	}
	if len(p.spec.Limits) > 0 {
		config.Defaults.Thresholds = thresholds(p.spec.Limits)
	}
	for _, text := range p.spec.Texts {
		config.Defaults.Mappings = append(config.Defaults.Mappings, text.mapping())
	}
	for _, style := range p.spec.Styles {
		config.Overrides = append(config.Overrides, style.override())
	}
	for _, link := range p.spec.Links {
		config.Defaults.Links = append(config.Defaults.Links, link.build())
	}
	return config
}

func thresholds(limits []Limit) *dashboard.ThresholdsConfig {
	steps := []dashboard.Threshold{{Color: string(Green)}}
	for _, limit := range limits {
		steps = append(steps, dashboard.Threshold{Value: &limit.Value, Color: string(limit.Color)})
	}
	return &dashboard.ThresholdsConfig{Mode: dashboard.ThresholdsModeAbsolute, Steps: steps}
}

func (t Text) mapping() dashboard.ValueMapping {
	color := string(t.Color)
	return dashboard.ValueMapping{ValueMap: &dashboard.ValueMap{
		Type:    dashboard.MappingTypeValueToText,
		Options: map[string]dashboard.ValueMappingResult{t.Value: {Text: &t.Word, Color: &color}},
	}}
}

func (s Style) override() dashboard.DashboardFieldConfigSourceOverrides {
	var properties []dashboard.DynamicConfigValue
	if s.Word != "" {
		properties = append(properties, dashboard.DynamicConfigValue{Id: "displayName", Value: s.Word})
	}
	if s.Color != "" {
		properties = append(properties, dashboard.DynamicConfigValue{
			Id: "color", Value: map[string]string{"mode": string(dashboard.FieldColorModeIdFixed), "fixedColor": string(s.Color)},
		})
	}
	return dashboard.DashboardFieldConfigSourceOverrides{
		Matcher: dashboard.MatcherConfig{Id: "byName", Options: s.Series}, Properties: properties,
	}
}
