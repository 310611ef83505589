package controls

import (
	"fmt"
	"slices"
	"strings"
)

// Rule is a requirement for all resources of some types.
type Rule struct {
	IDs      []string // ids of the scanners' controls; the first is the rule's id
	Requires string
	Types    []string              // of the resources that the rule applies to
	Only     func(r Resource) bool // selects some of them; nil = all
	Check    Check
}

// Check decides whether a resource meets a rule. all is for references to others.
type Check func(r Resource, all Resources) Judgement

// Judgement is the result of a check.
type Judgement struct {
	By        Resources // other resources by which the rule is met
	Violation string    // "" = met
}

func met(by ...Resource) Judgement { return Judgement{By: by} }

func unmet(format string, args ...any) Judgement {
	return Judgement{Violation: fmt.Sprintf(format, args...)}
}

// ID returns the rule's id.
func (r Rule) ID() string { return r.IDs[0] }

// appliesTo reports whether the rule applies to a resource.
func (r Rule) appliesTo(res Resource) bool {
	return slices.Contains(r.Types, res.Type) && (r.Only == nil || r.Only(res))
}

// Finding is a resource that violates a rule.
type Finding struct {
	Rule      string // the rule's id
	Resource  string // its name, or the rule's types if there is no such resource
	Violation string
}

func (f Finding) String() string { return f.Rule + " " + f.Resource + ": " + f.Violation }

// Verdict is the outcome of one rule.
type Verdict struct {
	Rule     Rule
	Met      Resources // the resources that meet it, without duplicates
	Unmet    []Finding // without an exception
	Excepted []Finding
}

// Judge applies every rule to a stack's resources. A rule that applies to no resource
// is a finding too: otherwise it would count as met after its resource was removed.
func Judge(stack string, all Resources) []Verdict {
	var out []Verdict
	for _, rule := range Rules() {
		v := Verdict{Rule: rule}
		judged := 0
		for _, r := range all {
			if !rule.appliesTo(r) {
				continue
			}
			judged++
			j := rule.Check(r, all)
			if j.Violation == "" {
				v.addMet(append(Resources{r}, j.By...))
				continue
			}
			v.addViolation(stack, r.Name, j.Violation)
		}
		if judged == 0 {
			v.addViolation(stack, strings.Join(rule.Types, ", "), "the stack has no such resource")
		}
		out = append(out, v)
	}
	return out
}

// addViolation records a violation as excepted or unmet.
func (v *Verdict) addViolation(stack, resource, violation string) {
	f := Finding{v.Rule.ID(), resource, violation}
	if hasException(stack, f) {
		v.Excepted = append(v.Excepted, f)
		return
	}
	v.Unmet = append(v.Unmet, f)
}

// addMet adds resources that meet the rule.
func (v *Verdict) addMet(by Resources) {
	for _, r := range by {
		if !slices.ContainsFunc(v.Met, func(o Resource) bool { return o.Type == r.Type && o.Name == r.Name }) {
			v.Met = append(v.Met, r)
		}
	}
}

// Unmet returns all findings without an exception.
func Unmet(verdicts []Verdict) []Finding {
	var out []Finding
	for _, v := range verdicts {
		out = append(out, v.Unmet...)
	}
	return out
}

// Rules lists every rule, grouped by service.
func Rules() []Rule {
	return slices.Concat(emrRules(), bucketRules(), bucketPolicyRules(), instanceRules(), volumeRules(),
		groupRules(), networkRules(), keyRules(), identityRules(), tlsRules(), podRules())
}

// equals requires a value at a path.
func equals(path string, want any) Check {
	return func(r Resource, _ Resources) Judgement {
		if got := r.At(path); got != want {
			return unmet("%s is %v, not %v", path, got, want)
		}
		return met()
	}
}
