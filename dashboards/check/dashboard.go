package check

import (
	"encoding/json"
	"fmt"

	"github.com/emr-observatory/emr-observatory/dashboards/panel"
)

// The plugins whose queries the check runs.
const (
	metricsPlugin  = panel.PluginMetrics
	logsPlugin     = panel.PluginLogs
	tracesPlugin   = panel.PluginTraces
	profilesPlugin = panel.PluginProfiles
)

// dashboard is the part of Grafana's JSON that the check reads.
type dashboard struct {
	Panels     []panelJSON `json:"panels"`
	Templating struct {
		List []variable `json:"list"`
	} `json:"templating"`
}

type panelJSON struct {
	Type        string      `json:"type"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	Interval    string      `json:"interval"`
	Datasource  datasource  `json:"datasource"`
	Targets     []target    `json:"targets"`
	Panels      []panelJSON `json:"panels"` // of a collapsed row
	FieldConfig struct {
		Defaults struct {
			Unit panel.Unit `json:"unit"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
}

func (p panelJSON) emptyWhenHealthy() string { return panel.EmptyWhenHealthy(p.Description) }

type target struct {
	RefID         string     `json:"refId"`
	Hide          bool       `json:"hide"`
	Datasource    datasource `json:"datasource"`
	Expr          string     `json:"expr"`          // metrics, logs
	Query         string     `json:"query"`         // traces
	LabelSelector string     `json:"labelSelector"` // profiles
	ProfileTypeID string     `json:"profileTypeId"`
	GroupBy       []string   `json:"-"`
	QueryType     string     `json:"queryType"`
	Instant       bool       `json:"instant"`
	Interval      string     `json:"interval"`
	MaxLines      int        `json:"maxLines"`
	Limit         int        `json:"limit"`
	Spss          int        `json:"spss"`
}

// UnmarshalJSON reads groupBy only if it is a list of names: Tempo's is a list
// of objects.
func (t *target) UnmarshalJSON(raw []byte) error {
	type plain target
	if err := json.Unmarshal(raw, (*plain)(t)); err != nil {
		return fmt.Errorf("read query: %w", err)
	}
	var extra struct {
		GroupBy json.RawMessage `json:"groupBy"`
	}
	if err := json.Unmarshal(raw, &extra); err != nil {
		return fmt.Errorf("read query: %w", err)
	}
	var names []string
	if json.Unmarshal(extra.GroupBy, &names) == nil {
		t.GroupBy = names
	}
	return nil
}

// text returns the part of the query that may contain variables.
func (t target) text() string {
	for _, text := range []string{t.Expr, t.Query, t.LabelSelector} {
		if text != "" {
			return text
		}
	}
	return ""
}

// datasource is {"type","uid"}, or only a name in old dashboards.
type datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

// UnmarshalJSON accepts both forms.
func (d *datasource) UnmarshalJSON(raw []byte) error {
	type plain datasource
	if len(raw) > 0 && raw[0] == '"' {
		return json.Unmarshal(raw, &d.UID)
	}
	return json.Unmarshal(raw, (*plain)(d))
}

func parse(raw []byte) (dashboard, error) {
	var d dashboard
	if err := json.Unmarshal(raw, &d); err != nil {
		return d, fmt.Errorf("parse JSON: %w", err)
	}
	return d, nil
}

// panels lists the panels with queries, including those of collapsed rows.
func (d dashboard) panels() []panelJSON {
	var found []panelJSON
	for _, p := range d.Panels {
		for _, candidate := range append([]panelJSON{p}, p.Panels...) {
			if len(candidate.Targets) > 0 {
				found = append(found, candidate)
			}
		}
	}
	return found
}
