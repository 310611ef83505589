// Package rules has what services require of values beyond their type: enums,
// patterns, limits and relations between fields, each with the document that
// states it. It is not complete: it covers the mistakes that this project could
// make.
//
// It does not check shapes (package catalog does), nor does it know which edits
// replace a resource (package diff does).
package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// Rule is one requirement on one field of one resource type.
type Rule struct {
	Type   string // resource type token; "aws:*" matches every type with that prefix
	Path   string // coreInstanceGroup.ebsConfigs[*].size; "" for the whole resource
	Rule   string // what must hold
	Remedy string // "" = an example or the source, see remedy
	Source string
	// Holds reports whether the plain value at Path (see property.Plain) obeys the
	// rule. Objects may contain property.Unknown anywhere; Holds must accept unknown
	// values.
	Holds func(v any) bool
	// Pass and Fail are examples, used by the tests and in remedies.
	Pass, Fail any
}

// All returns all rules.
func All() []Rule {
	return slices.Concat(
		tagRules(), networkRules(), instanceRules(), volumeRules(), securityGroupRules(),
		clusterRules(), clusterPartRules(), clusterRelationRules(), instanceGroupRules(), fleetRules(), emrRules(), configurationRules(),
		iamRules(), iamTagRules(), kmsRules(), policyDocumentRules(), parameterRules(),
		bucketRules(), lifecycleRules(), objectRules(), schedulerRules(), lakeRules(),
		metadataRules(), coreRules(), appsRules(), podRules(),
		grafanaRules(), generatedRules(), providerRules(),
	)
}

// enum returns the rule that a string is one of several.
func enum(typ, path, source, pass, fail string, values ...string) Rule {
	last := len(values) - 1
	return Rule{
		Type: typ, Path: path, Rule: "must be " + strings.Join(values[:last], ", ") + " or " + values[last], Source: source,
		Holds: oneOf(values...), Pass: pass, Fail: fail,
	}
}

// limits returns the rule that a number is from low to high, both included. unit may be "".
func limits(typ, path, source, unit string, low, high, pass, fail float64) Rule {
	return Rule{
		Type: typ, Path: path, Rule: strings.TrimSpace(fmt.Sprintf("must be %.0f to %.0f %s", low, high, unit)), Source: source,
		Holds: between(low, high), Pass: pass, Fail: fail,
	}
}

// all caches the rules: compiling their patterns for every check takes milliseconds.
var all = sync.OnceValue(All)

// Check returns the violations of a resource's inputs, sorted by path. Unknown
// values are skipped; a value that is or contains a secret is never quoted.
func Check(typ string, inputs resource.PropertyMap) []property.Violation {
	var violations []property.Violation
	for _, r := range all() {
		if !r.appliesTo(typ) {
			continue
		}
		visit(resource.NewObjectProperty(inputs), segments(r.Path), "", false, func(path string, v resource.PropertyValue, secret bool) {
			if !r.Holds(property.PlainValue(v)) {
				violations = append(violations, r.violation(path, v, secret || v.ContainsSecrets()))
			}
		})
	}
	property.Sort(violations)
	return violations
}

func (r Rule) appliesTo(typ string) bool {
	if prefix, wildcard := strings.CutSuffix(r.Type, "*"); wildcard {
		return strings.HasPrefix(typ, prefix)
	}
	return r.Type == typ
}

func (r Rule) violation(path string, v resource.PropertyValue, secret bool) property.Violation {
	out := property.Violation{Path: path, Value: property.Describe(v), Rule: r.Rule, Remedy: r.remedy(), Source: r.Source}
	if secret {
		out.Value = "[secret]"
	}
	if path == "" {
		out.Path = "(resource)"
	}
	return out
}

// remedy returns Remedy, or the passing example if it is short, or the source.
func (r Rule) remedy() string {
	const maxLength = 60
	if r.Remedy != "" {
		return r.Remedy
	}
	example, err := json.Marshal(r.Pass)
	text := string(example)
	if err != nil || len(text) > maxLength || text == "null" || text == "[]" || text == "{}" {
		return "see " + r.Source
	}
	return "write e.g. " + text
}

// segments splits "a.b[*].c" into a, b, *, c.
func segments(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(strings.ReplaceAll(path, "[*]", ".*"), ".")
}

// visit calls f for every known value below v whose path matches pattern. "*"
// matches all items of a list and all values of a map. at is the path of v,
// secret says whether v is part of a secret.
func visit(v resource.PropertyValue, pattern []string, at string, secret bool, f func(path string, v resource.PropertyValue, secret bool)) {
	secret = secret || v.IsSecret()
	v, unknown := property.Unwrap(v)
	if unknown || v.IsNull() {
		return
	}
	if len(pattern) == 0 {
		f(at, v, secret)
		return
	}
	head, rest := pattern[0], pattern[1:]
	switch {
	case head == "*" && v.IsArray():
		for i, e := range v.ArrayValue() {
			visit(e, rest, at+"["+strconv.Itoa(i)+"]", secret, f)
		}
	case head == "*" && v.IsObject():
		for k, e := range v.ObjectValue() {
			visit(e, rest, property.Join(at, string(k)), secret, f)
		}
	case v.IsObject():
		if e, set := v.ObjectValue()[resource.PropertyKey(head)]; set {
			visit(e, rest, property.Join(at, head), secret, f)
		}
	}
}
