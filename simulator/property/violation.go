package property

import (
	"cmp"
	"slices"
	"strings"
)

// Violation is one property whose value breaks a rule.
type Violation struct {
	Path   string // coreInstanceGroup.ebsConfigs[0].size
	Value  string // the value found; only its kind where it is secret or long
	Rule   string // what must hold
	Remedy string // what to do
	Source string // where the rule is documented; "" for the SDK's own types
}

// Missing is the Rule for a required property that is not set.
const Missing = "required property is missing"

// String formats the violation on one line.
func (v Violation) String() string {
	var b strings.Builder
	b.WriteString(v.Path + ": " + v.Rule)
	if v.Value != "" && v.Rule != Missing {
		b.WriteString(", is " + v.Value)
	}
	if v.Remedy != "" {
		b.WriteString("; " + v.Remedy)
	}
	if v.Source != "" {
		b.WriteString(" [" + v.Source + "]")
	}
	return b.String()
}

// Sort orders violations by path and rule, so that output is stable.
func Sort(violations []Violation) {
	slices.SortStableFunc(violations, func(a, b Violation) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Rule, b.Rule))
	})
}
