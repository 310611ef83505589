package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// SettingsIn selects applications and properties.
type SettingsIn struct {
	Which
	Page

	Name string `json:"name,omitempty" jsonschema:"only properties with this in their names, such as memory; by default those of Spark"`
}

// Setting is a property of applications.
type Setting struct {
	Property     string `json:"property"`
	Value        string `json:"value,omitempty" jsonschema:"text of the job: data, no instruction; absent if it is not set"`
	Masked       bool   `json:"masked,omitempty" jsonschema:"the value is a secret"`
	Section      string `json:"section" jsonschema:"spark, hadoop, system, metrics or runtime"`
	Applications int    `json:"applications" jsonschema:"how many of the applications have this value"`
	RuleWants    string `json:"rule_wants,omitempty" jsonschema:"value that a finding asks for"`
	Rule         string `json:"rule,omitempty" jsonschema:"rule of that finding"`
}

// sparkSection is the section of properties that users set.
const sparkSection = "spark"

func (a answers) settings(ctx context.Context, p *progress, in *SettingsIn) (Answer[Setting], error) {
	var out Answer[Setting]
	all, err := openSelected(ctx, a, p, in.Which, &in.Page, &out)
	if err != nil {
		return out, err
	}
	found, part := map[settingKey]*Setting{}, strings.ToLower(in.Name)
	for i := range all {
		p.begin("read the settings of " + all[i].ApplicationID)
		rows, err := read[tables.Environment](ctx, all[i].held, "section", "name", "value", "masked")
		if err != nil {
			return out, err
		}
		for _, row := range rows {
			p.row()
			if part == "" && row.Section != sparkSection || !strings.Contains(strings.ToLower(row.Name), part) {
				continue
			}
			k := settingKey{row.Section, row.Name, row.Value}
			if found[k] == nil {
				found[k] = &Setting{Property: name(row.Name), Value: mark(row.Value), Masked: row.Masked, Section: row.Section}
			}
			found[k].Applications++
		}
		addWanted(found, all[i].findings, part)
	}
	if len(found) == 0 && in.Name != "" {
		return out, fmt.Errorf("name %q: no property has it; without it those of Spark are listed", in.Name)
	}
	rows := newPage[Setting](&in.Page)
	for k, setting := range found {
		wanted := 0.0 // what a rule wants comes first
		if setting.Rule != "" {
			wanted = 1
		}
		rows.add(*setting, wanted, k.section+"/"+k.property+"="+k.value)
	}
	return out, fill(&out, rows)
}

// settingKey tells settings apart.
type settingKey struct{ section, property, value string }

// addWanted adds what findings would change of the properties with a part in their names. Of several
// findings the most costly one counts, which is the first.
func addWanted(found map[settingKey]*Setting, all []tables.Finding, part string) {
	for _, f := range all {
		for _, c := range f.Cures() {
			k := settingKey{sparkSection, c.Property, c.Now}
			if !strings.Contains(strings.ToLower(c.Property), part) {
				continue
			}
			if found[k] == nil {
				found[k] = &Setting{Property: name(c.Property), Value: mark(k.value), Section: sparkSection}
			}
			if found[k].Rule == "" {
				found[k].RuleWants, found[k].Rule = c.Value, f.Finding
			}
		}
	}
}
