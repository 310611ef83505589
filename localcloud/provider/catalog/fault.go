package catalog

import (
	"sort"
	"strings"
)

// Fault is one thing that is wrong with a value.
type Fault struct {
	Path   string // coreInstanceGroup.ebsConfigs[0].size
	Value  string // what was found; secrets and long values by their kind alone
	Rule   string // what must hold
	Remedy string // what to do
	Source string // where the rule is written down; "" for the SDK's own types
}

// String is the fault on one line.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.Path + ": " + f.Rule)
	if f.Value != "" && f.Rule != Missing {
		b.WriteString(", is " + f.Value)
	}
	if f.Remedy != "" {
		b.WriteString("; " + f.Remedy)
	}
	if f.Source != "" {
		b.WriteString(" [" + f.Source + "]")
	}
	return b.String()
}

// Sort orders faults by path, so that the same mistake always reads the same.
func Sort(faults []Fault) {
	sort.SliceStable(faults, func(i, j int) bool {
		if faults[i].Path != faults[j].Path {
			return faults[i].Path < faults[j].Path
		}
		return faults[i].Rule < faults[j].Rule
	})
}
