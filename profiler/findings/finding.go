package findings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// reached returns the limit that a value is at or beyond: the critical one if it is, else the
// one of a warning.
func reached(limit rules.Limit, value float64) (at float64, bad bool) {
	beyond := func(at float64) bool {
		if limit.LessIsWorse() {
			return value <= at
		}
		return value >= at
	}
	if beyond(limit.Critical) {
		return limit.Critical, true
	}
	return limit.Warn, beyond(limit.Warn)
}

// judged returns the finding of a rule for a value; nil if the value is within the limit.
func judged(id rules.ID, value float64) *tables.Finding {
	rule := rules.Get(id)
	limit, bad := reached(rule.Limit, value)
	if !bad {
		return nil
	}
	return &tables.Finding{
		Finding: string(id), Basis: string(rule.Basis), Value: &value, Limit: &limit, Unit: string(rule.Unit),
	}
}

// ofStage returns the finding of a rule for a stage's value; nil if the value is within the
// limit.
func ofStage(id rules.ID, s *stage, value float64) *tables.Finding {
	f := judged(id, value)
	if f != nil {
		f.StageID, f.StageTry = new(s.StageID), new(s.StageAttemptID) // not the stage's memory
	}
	return f
}

// costs sets the impact, in milliseconds.
func costs(f *tables.Finding, millis float64) { f.Impact = new(max(0, int64(millis))) }

// costsShare sets the impact to a share of a stage's duration.
func costsShare(f *tables.Finding, s *stage, share float64) {
	costs(f, min(1, share)*float64(known(s.DurationMillis)))
}

// cite adds a row and column as evidence.
func cite(f *tables.Finding, table tables.Name, key, column string, value any) {
	path := string(table)
	if key != "" {
		path += "/" + key
	}
	f.Evidence = append(f.Evidence, fmt.Sprintf("%s/%s=%v", path, column, value))
}

// Names of the tables that findings cite.
var (
	stagesTable      = tables.Table((*tables.StageRow)(nil))
	summariesTable   = tables.Table((*tables.TaskSummary)(nil))
	phasesTable      = tables.Table((*tables.Phase)(nil))
	executorsTable   = tables.Table((*tables.Executor)(nil))
	nodesTable       = tables.Table((*tables.SQLNode)(nil))
	sqlTable         = tables.Table((*tables.SQL)(nil))
	jobsTable        = tables.Table((*tables.Job)(nil))
	environmentTable = tables.Table((*tables.Environment)(nil))
	applicationTable = tables.Table((*tables.Application)(nil))
)

func (s *stage) key() string {
	return fmt.Sprintf("stage_id=%d,stage_attempt_id=%d", s.StageID, s.StageAttemptID)
}

// cite adds a column of the stage.
func (s *stage) cite(f *tables.Finding, column string, value any) {
	cite(f, stagesTable, s.key(), column, value)
}

// citeSummary adds a column of the stage's summary.
func (s *stage) citeSummary(f *tables.Finding, column string, value any) {
	cite(f, summariesTable, s.key(), column, value)
}

// name names the stage within a sentence, title at its beginning.
func (s *stage) name() string  { return fmt.Sprintf("stage %d (%s)", s.StageID, s.StageName) }
func (s *stage) title() string { return "S" + s.name()[len("s"):] }

// change advises to set a property of the rule, to the rule's value if value is empty. It
// advises nothing that is set already. It panics if the rule does not have the property.
func (a *application) change(f *tables.Finding, property, value string) {
	rule := rules.Get(rules.ID(f.Finding))
	i := slices.IndexFunc(rule.Changes, func(c rules.Change) bool { return c.Property == property })
	if i < 0 {
		panic(fmt.Sprintf("rule %s has no change of %s", rule.ID, property))
	}
	c := rule.Changes[i]
	if value == "" {
		value = c.Value
	}
	now := a.settings[property]
	if strings.EqualFold(now, value) || value == "" || !holds(c, a.release) {
		return
	}
	f.Changes, f.Settings = append(f.Changes, property+"="+value), append(f.Settings, property+"="+now)
	was := "not set"
	if now != "" {
		was = "now " + now
	}
	text := fmt.Sprintf("%s: %s=%s (%s)", c.Classification, property, value, was)
	if c.When != "" {
		text += ", " + c.When
	}
	f.Advice = strings.TrimSpace(f.Advice + " Set in " + text + ".")
}

// holds reports whether a change is for a release of EMR. What is for old releases is not for an
// unknown one, which may not be EMR's.
func holds(c rules.Change, release string) bool {
	if release == "" {
		return c.Until == ""
	}
	of := numbers(release)
	to := func(end string) int { // a patch release is as the one that it mends
		parts := numbers(end)
		return slices.Compare(of[:min(len(of), len(parts))], parts)
	}
	return (c.Since == "" || to(c.Since) >= 0) && (c.Until == "" || to(c.Until) <= 0)
}

// numbers returns the numbers of a release, such as emr-7.9.0, or of its first parts.
func numbers(release string) (all []float64) {
	for part := range strings.SplitSeq(strings.TrimPrefix(release, "emr-"), ".") {
		n, _ := number(part)
		all = append(all, n)
	}
	return all
}
