package controls

import (
	"fmt"
	"slices"
	"strings"
)

// Rule is one requirement on every resource of some types.
type Rule struct {
	IDs   []string // the scanners' own; the first names the rule here
	Wants string
	Types []string              // of the resources that it judges
	Only  func(r Resource) bool // which of them; nil = all
	Check Check
}

// Check judges one resource among all.
type Check func(r Resource, all Resources) Judgement

// Judgement is met by some resources, or has a fault.
type Judgement struct {
	By    Resources
	Fault string // "" = met
}

func met(by ...Resource) Judgement { return Judgement{By: by} }

func unmet(format string, args ...any) Judgement {
	return Judgement{Fault: fmt.Sprintf(format, args...)}
}

// ID names the rule.
func (r Rule) ID() string { return r.IDs[0] }

// judges tells whether the rule is about this resource.
func (r Rule) judges(res Resource) bool {
	return slices.Contains(r.Types, res.Type) && (r.Only == nil || r.Only(res))
}

// Finding is a resource that does not do what a rule wants.
type Finding struct {
	Rule     string // the rule's id
	Resource string
	Fault    string
}

func (f Finding) String() string { return f.Rule + " " + f.Resource + ": " + f.Fault }

// Verdict is what came of one rule.
type Verdict struct {
	Rule     Rule
	Met      Resources // what meets it, each once, by name
	Unmet    []Finding // without an exception
	Excepted []Finding
}

// Judge applies every rule. A rule that finds nothing to judge is a finding
// itself: it would go on being met after the thing it guards has gone.
func Judge(all Resources) []Verdict {
	var out []Verdict
	for _, rule := range Rules() {
		v := Verdict{Rule: rule}
		judged := 0
		for _, r := range all {
			if !rule.judges(r) {
				continue
			}
			judged++
			j := rule.Check(r, all)
			finding := Finding{rule.ID(), r.Name, j.Fault}
			switch {
			case j.Fault == "":
				v.meet(append(Resources{r}, j.By...))
			case excepted(rule, r):
				v.Excepted = append(v.Excepted, finding)
			default:
				v.Unmet = append(v.Unmet, finding)
			}
		}
		if judged == 0 {
			v.Unmet = append(v.Unmet, Finding{rule.ID(), strings.Join(rule.Types, ", "), "nothing to judge: no such resource"})
		}
		out = append(out, v)
	}
	return out
}

func (v *Verdict) meet(by Resources) {
	for _, r := range by {
		if !slices.ContainsFunc(v.Met, func(o Resource) bool { return o.Type == r.Type && o.Name == r.Name }) {
			v.Met = append(v.Met, r)
		}
	}
}

// Unmet gives every finding of the verdicts that has no exception.
func Unmet(verdicts []Verdict) []Finding {
	var out []Finding
	for _, v := range verdicts {
		out = append(out, v.Unmet...)
	}
	return out
}

// Rules is every rule, by the service they are about.
func Rules() []Rule {
	return slices.Concat(emrRules(), bucketRules(), bucketPolicyRules(), instanceRules(), volumeRules(), groupRules(), networkRules(), keyRules(), identityRules(), tlsRules(), podRules())
}

// is wants one value at a path.
func is(path string, want any) Check {
	return func(r Resource, _ Resources) Judgement {
		if got := r.At(path); got != want {
			return unmet("%s is %v, not %v", path, got, want)
		}
		return met()
	}
}
