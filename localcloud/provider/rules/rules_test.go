package rules_test

import (
	"fmt"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
	"github.com/emr-observatory/emr-observatory/localcloud/provider/rules"
)

// place puts an example value where a rule's path points to.
func place(path []string, v any) any {
	if len(path) == 0 {
		return v
	}
	inner := place(path[1:], v)
	if path[0] == "*" {
		return []any{inner}
	}
	return map[string]any{path[0]: inner}
}

func segments(path string) []string {
	var out []string
	word := ""
	flush := func() {
		if word != "" {
			out = append(out, word)
		}
		word = ""
	}
	for i := 0; i < len(path); i++ {
		switch {
		case path[i] == '.':
			flush()
		case path[i] == '[':
			flush()
			out = append(out, "*")
			i += len("*]")
		default:
			word += string(path[i])
		}
	}
	flush()
	return out
}

func TestEveryRulePassesAndFailsByItsExamples(t *testing.T) {
	table := rules.All()
	require.NotEmpty(t, table)
	for i, r := range table {
		t.Run(fmt.Sprintf("%d %s %s", i, r.Type, r.Path), func(t *testing.T) {
			require.NotEmpty(t, r.Rule)
			require.NotEmpty(t, r.Source, "a rule must say where it is written down")
			require.NotNil(t, r.Fail)
			mine := func(v any) (texts []string) {
				m, ok := place(segments(r.Path), v).(map[string]any)
				require.True(t, ok, "the path must lead into an object")
				for _, f := range rules.Check(exemplar(r.Type), resource.NewPropertyMapFromMap(m)) {
					require.NotEmpty(t, f.Value, f.String())
					require.NotEmpty(t, f.Remedy, f.String())
					if len(f.Rule) >= len(r.Rule) && f.Rule[:len(r.Rule)] == r.Rule {
						texts = append(texts, f.Path)
					}
				}
				return texts
			}
			require.NotEmpty(t, mine(r.Fail), "the failing example must fail")
			if r.Pass != nil {
				require.Empty(t, mine(r.Pass), "the passing example must pass")
			}
		})
	}
}

// exemplar is a type that a rule for many types covers.
func exemplar(typ string) string {
	switch typ {
	case "aws:*":
		return "aws:ec2/vpc:Vpc"
	case "kubernetes:*":
		return "kubernetes:core/v1:ServiceAccount"
	default:
		return typ
	}
}

// A rule on a type or a field that does not exist could never fire.
func TestEveryRuleIsAboutAFieldThatExists(t *testing.T) {
	packages := catalog.Packages()
	for _, r := range rules.All() {
		typ := exemplar(r.Type)
		fields := packages[packageOf(typ)].Config
		if res, ok := packages[packageOf(typ)].Resources[typ]; ok {
			fields = res.Args
		} else {
			require.Contains(t, typ, "pulumi:providers:", "no such type")
			fields = packages[typ[len("pulumi:providers:"):]].Config
		}
		path := segments(r.Path)
		if len(path) == 0 {
			continue
		}
		faults := catalog.Shape(fields, resource.NewPropertyMapFromMap(place(path, map[string]any{}).(map[string]any)))
		for _, f := range faults {
			require.NotContains(t, f.Rule, "unknown property", "%s %s", r.Type, r.Path)
		}
	}
}

func packageOf(typ string) string {
	for i := range typ {
		if typ[i] == ':' {
			return typ[:i]
		}
	}
	return typ
}

func TestUnknownValuesAreRight(t *testing.T) {
	unknown := resource.MakeComputed(resource.NewStringProperty(""))
	for _, r := range rules.All() {
		path := segments(r.Path)
		if len(path) == 0 {
			continue
		}
		m := place(path, unknown).(map[string]any)
		for _, f := range rules.Check(exemplar(r.Type), resource.NewPropertyMapFromMap(m)) {
			require.NotContains(t, f.Rule, r.Rule, "%s %s", r.Type, r.Path)
		}
	}
}
