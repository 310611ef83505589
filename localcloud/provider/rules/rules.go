// Package rules holds what the services demand of a value beyond its type:
// enums, patterns, limits and relations between fields, each with the place
// where it is written down. The table is a choice, not the whole of AWS: it
// holds what a mistake in this project could break.
//
// It does not check shapes (package catalog does) and decides nothing about
// replacement (package change does).
package rules

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
)

// Rule is one demand on one place of one resource type.
type Rule struct {
	Type   string // resource type token; a trailing "*" stands for any ending
	Path   string // coreInstanceGroup.ebsConfigs[*].size; "" for the whole resource
	Rule   string // what must hold
	Remedy string
	Source string
	// Holds decides on the plain value at Path (see catalog.Plain). An object
	// may hold catalog.Unknown at any place; what is not known yet is right.
	Holds func(v any) bool
	// Examples, used by the tests and read as documentation.
	Pass, Fail any
}

// All gives the whole table.
func All() []Rule {
	var out []Rule
	for _, part := range [][]Rule{ec2Rules(), groupRules(), emrRules(), emrJSONRules(), iamRules(), s3Rules(), kubernetesRules(), podRules(), otherRules(), configRules()} {
		out = append(out, part...)
	}
	return out
}

//nolint:gochecknoglobals // the table, indexed once
var table = All()

// Check gives the faults of a resource's inputs. Values that are not known yet
// are skipped; a value that is or holds a secret is never named.
func Check(typ string, inputs resource.PropertyMap) []catalog.Fault {
	var faults []catalog.Fault
	for _, r := range table {
		if !r.covers(typ) {
			continue
		}
		each(resource.NewObjectProperty(inputs), segments(r.Path), "", false, func(path string, v resource.PropertyValue, secret bool) {
			if r.Holds(catalog.PlainValue(v)) {
				return
			}
			faults = append(faults, r.fault(path, v, secret || v.ContainsSecrets()))
		})
	}
	catalog.Sort(faults)
	return faults
}

func (r Rule) covers(typ string) bool {
	if prefix, open := strings.CutSuffix(r.Type, "*"); open {
		return strings.HasPrefix(typ, prefix)
	}
	return r.Type == typ
}

func (r Rule) fault(path string, v resource.PropertyValue, secret bool) catalog.Fault {
	f := catalog.Fault{Path: path, Value: catalog.Describe(v), Rule: r.Rule, Remedy: r.remedy(), Source: r.Source}
	if secret {
		f.Value = "[secret]"
	}
	if path == "" {
		f.Path = "(resource)"
	}
	return f
}

// remedy is the rule's own, else its passing example, else where to read on.
func (r Rule) remedy() string {
	const longest = 60
	if r.Remedy != "" {
		return r.Remedy
	}
	example, err := json.Marshal(r.Pass)
	text := string(example)
	if err != nil || len(text) > longest || text == "null" || text == "[]" || text == "{}" {
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

// each visits every known value that matches the path. A "*" goes over a
// list's items or a map's values.
func each(v resource.PropertyValue, path []string, at string, secret bool, visit func(string, resource.PropertyValue, bool)) {
	secret = secret || v.IsSecret()
	v, unknown := catalog.Reveal(v)
	if unknown || v.IsNull() {
		return
	}
	if len(path) == 0 {
		visit(at, v, secret)
		return
	}
	head, rest := path[0], path[1:]
	switch {
	case head == "*" && v.IsArray():
		for i, e := range v.ArrayValue() {
			each(e, rest, at+"["+strconv.Itoa(i)+"]", secret, visit)
		}
	case head == "*" && v.IsObject():
		for k, e := range v.ObjectValue() {
			each(e, rest, catalog.At(at, string(k)), secret, visit)
		}
	case v.IsObject():
		if e, set := v.ObjectValue()[resource.PropertyKey(head)]; set {
			each(e, rest, catalog.At(at, head), secret, visit)
		}
	}
}
