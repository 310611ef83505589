package explain

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/cost"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/presets"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Cluster is what a cluster of a configuration gets.
type Cluster struct {
	Key        string           `json:"key"`
	Preset     string           `json:"preset"`
	Purpose    string           `json:"purpose"` // of the preset
	Values     []Value          `json:"values"`
	Properties []Property       `json:"properties"`
	Nodes      []schema.NodeFit `json:"nodes"`
	Scaling    []string         `json:"scaling"`
	Unusual    []string         `json:"unusual"` // warnings of the preview
	Cost       cost.Part        `json:"cost"`
}

// Clusters returns what the clusters of a valid configuration get, by their keys. value is
// the key clusters of the stack's configuration, as JSON; e is what the stack costs.
func Clusters(value string, cfg schema.Config, e cost.Estimate) ([]Cluster, error) {
	own := map[string]map[string]any{}
	if value != "" {
		if err := json.Unmarshal([]byte(value), &own); err != nil {
			return nil, fmt.Errorf("read clusters: %w", err)
		}
	}
	costs := map[string]cost.Part{}
	for _, p := range e.Clusters {
		costs[p.Name] = p
	}
	out := []Cluster{}
	for _, key := range cfg.ClusterKeys() {
		c := cfg.Clusters[key]
		preset, _ := presets.Named(c.Preset)
		out = append(out, Cluster{
			Key: key, Preset: c.Preset, Purpose: preset.Purpose, Values: Values(own[key], c), Nodes: c.NodeFits(), Scaling: scaling(c),
			Properties: Properties(own[key], c, cfg.Tracing.Ratio()), Unusual: unusual(key, cfg), Cost: costs[key],
		})
	}
	return out, nil
}

// unusual returns the warnings of a cluster.
func unusual(key string, cfg schema.Config) []string {
	var l violation.List
	cfg.Clusters[key].Validate(&l, schema.ClusterPath(key), cfg.Ephemeral)
	out := []string{}
	for _, w := range l.Warnings() {
		out = append(out, w.Error())
	}
	return out
}

// scaling says in words what may change the number of a cluster's nodes.
func scaling(c schema.Cluster) []string {
	out := []string{}
	if m := c.ManagedScaling; m != nil {
		text := fmt.Sprintf("managedScaling: EMR keeps %d to %d %s of core and task nodes", m.Min, m.Max, unitOf(m.Unit))
		if m.MaxCore != nil {
			text += fmt.Sprintf(", at most %d of core nodes", *m.MaxCore)
		}
		if m.MaxOnDemand != nil {
			text += fmt.Sprintf(", at most %d on demand", *m.MaxOnDemand)
		}
		out = append(out, text)
	}
	for _, g := range c.GroupsAt("") {
		if g.AutoScaling == nil {
			continue
		}
		path := strings.TrimPrefix(g.Path, ".")
		out = append(out, fmt.Sprintf("%s: %d at the start, %d to %d", path, g.Count, g.AutoScaling.Min, g.AutoScaling.Max))
		for _, r := range g.AutoScaling.Rules {
			out = append(out, fmt.Sprintf("%s: %+d %s when %s is %s %g for %d × %d s, then %d s of rest", path, r.Adjustment,
				adjusted(r.AdjustmentType), r.Metric, strings.ToLower(strings.ReplaceAll(r.Comparison, "_", " ")), r.Threshold, r.EvaluationPeriods,
				r.PeriodSeconds, r.CoolDownSeconds))
		}
	}
	if len(out) == 0 {
		out = append(out, "none: the numbers of nodes stay as written")
	}
	return out
}

func unitOf(unit string) string {
	return map[string]string{schema.UnitInstances: "instances", schema.UnitVCPU: "vCPUs", schema.UnitFleetUnits: "units of the fleets"}[unit]
}

func adjusted(kind string) string {
	switch kind {
	case schema.AdjustPercent:
		return "percent"
	case schema.AdjustExact:
		return "nodes in all"
	}
	return "nodes"
}
