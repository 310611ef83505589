package schema

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/decode"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Rule is a condition on a value. Its text is rendered from the same limits that
// Holds checks, so that documents and checks agree.
type Rule struct {
	Text   string // "must be 1 to 3650"
	Remedy string // "" = the command that sets the key
	// Holds checks a string or an int. It is nil if the check needs other fields
	// too and is in the section's Validate.
	Holds func(value any) bool

	// What Holds accepts, if it can be listed. Tests generate values from it.
	Min, Max int
	Values   []string
	Pattern  *regexp.Regexp
	Optional bool // "" is accepted too
}

// intRange accepts low to high.
func intRange(low, high int) Rule {
	return Rule{Text: fmt.Sprintf("must be %d to %d", low, high), Min: low, Max: high, Holds: func(v any) bool {
		n, ok := v.(int)
		return ok && n >= low && n <= high
	}}
}

// oneOf accepts the listed strings.
func oneOf(values ...string) Rule {
	return Rule{Text: "must be " + joinOr(values), Values: values, Holds: func(v any) bool {
		s, ok := v.(string)
		return ok && slices.Contains(values, s)
	}}
}

// pattern accepts strings that match expr, which text describes.
func pattern(expr, text string) Rule {
	re := regexp.MustCompile(expr)
	r := predicate(re.MatchString, text)
	r.Pattern = re
	return r
}

// predicate accepts strings for which holds is true, which text describes.
func predicate(holds func(string) bool, text string) Rule {
	return Rule{Text: "must be " + text, Holds: func(v any) bool {
		s, ok := v.(string)
		return ok && holds(s)
	}}
}

// textOnly returns a rule that a section's Validate checks.
func textOnly(text string) Rule { return Rule{Text: text} }

// optional accepts "" too.
func (r Rule) optional() Rule {
	holds := r.Holds
	r.Holds = func(v any) bool { return v == "" || holds(v) }
	r.Optional = true
	return r
}

// with appends to the text and sets the remedy.
func (r Rule) with(more, remedy string) Rule {
	r.Text += more
	r.Remedy = remedy
	return r
}

func joinOr(values []string) string {
	if len(values) < 2 {
		return strings.Join(values, "")
	}
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}

// eachOnce follows the rule of a list's entries.
const eachOnce = ", each only once"

// RuleNamed returns the rule that a `rule` tag names.
func RuleNamed(name string) (Rule, bool) {
	r, ok := rules[name]
	return r, ok
}

// rules are the rules of all sections by the name that `rule` tags use.
var rules = mergeRules(
	globalRules(), budgetRules(), tenantRules(), identityRules(), sourceRules(),
	tagRules(), networkRules(), controlNodeRules(), clustersRules(), clusterRules(), workerRules(), lifeRules(),
	launchRules(), configurationRules(), clusterAccessRules(), encryptionRules(), kerberosRules(), runtimeRoleRules(),
	managedScalingRules(), autoScalingRules(), fleetRules(), scheduleRules(),
	groupRules(), volumeRules(), retentionRules(), limitRules(), endpointRules(), accessRules(), certificateRules(),
	tracingRules(), profilerRules(),
)

func mergeRules(parts ...map[string]Rule) map[string]Rule {
	out := map[string]Rule{}
	for _, part := range parts {
		maps.Copy(out, part)
	}
	return out
}

// RuleText returns the rule of a field in words, for documents.
func RuleText(f decode.Field) string {
	r := rules[f.Rule]
	if f.Type == "array of string" {
		return r.Text + eachOnce
	}
	return r.Text
}

// checkFields checks each field of a section by the rule that its tag names. The
// entries of a list must each satisfy the rule, and differ.
func checkFields(l *violation.List, path string, section any) {
	v := reflect.ValueOf(section)
	for i := range v.NumField() {
		sf := v.Type().Field(i)
		r, ok := rules[sf.Tag.Get("rule")]
		if !ok || r.Holds == nil {
			continue
		}
		at := join(path, decode.Key(sf))
		if entries, isList := v.Field(i).Interface().([]string); isList {
			checkEach(l, at, entries, r)
			continue
		}
		value := v.Field(i).Interface()
		l.Require(r.Holds(value), at, value, r.Text, r.Remedy)
	}
}

func checkEach(l *violation.List, path string, entries []string, r Rule) {
	for i, e := range entries {
		ok := r.Holds(e) && !slices.Contains(entries[:i], e)
		l.Require(ok, fmt.Sprintf("%s[%d]", path, i), e, r.Text+eachOnce, r.Remedy)
	}
}

func join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

func inRange(n, low, high int) bool { return n >= low && n <= high }
