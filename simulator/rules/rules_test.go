package rules_test

import (
	"fmt"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/simulator/catalog"
	"github.com/emr-observatory/emr-observatory/simulator/rules"
)

// nest returns objects and lists that have v at path.
func nest(path []string, v any) any {
	if len(path) == 0 {
		return v
	}
	inner := nest(path[1:], v)
	if path[0] == "*" {
		return []any{inner}
	}
	return map[string]any{path[0]: inner}
}

// segments splits "a.b[*].c" into a, b, *, c, independently of package rules.
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
		switch path[i] {
		case '.':
			flush()
		case '[':
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

func TestRulesAcceptPassAndRejectFail(t *testing.T) {
	table := rules.All()
	require.NotEmpty(t, table)
	for i, r := range table {
		t.Run(fmt.Sprintf("%d %s %s", i, r.Type, r.Path), func(t *testing.T) {
			require.NotEmpty(t, r.Rule)
			require.NotEmpty(t, r.Source, "a rule must name its source")
			require.NotNil(t, r.Fail)
			violations := func(v any) (paths []string) {
				m, ok := nest(segments(r.Path), v).(map[string]any)
				require.True(t, ok, "the path must lead into an object")
				for _, f := range rules.Check(exampleType(r.Type), resource.NewPropertyMapFromMap(m)) {
					require.NotEmpty(t, f.Value, f.String())
					require.NotEmpty(t, f.Remedy, f.String())
					if len(f.Rule) >= len(r.Rule) && f.Rule[:len(r.Rule)] == r.Rule {
						paths = append(paths, f.Path)
					}
				}
				return paths
			}
			require.NotEmpty(t, violations(r.Fail), "the failing example must fail")
			if r.Pass != nil {
				require.Empty(t, violations(r.Pass), "the passing example must pass")
			}
		})
	}
}

// exampleType returns a type to which a rule with a wildcard applies.
func exampleType(typ string) string {
	switch typ {
	case "aws:*":
		return "aws:ec2/vpc:Vpc"
	case "kubernetes:*":
		return "kubernetes:core/v1:ServiceAccount"
	default:
		return typ
	}
}

// A rule for a type or field that does not exist could never fail.
func TestEveryRuleNamesAnExistingField(t *testing.T) {
	packages := catalog.Packages()
	for _, r := range rules.All() {
		typ := exampleType(r.Type)
		fields := packages[packageOf(typ)].Resources[typ].Args
		if fields == nil {
			require.Contains(t, typ, "pulumi:providers:", "no such type")
			fields = packages[typ[len("pulumi:providers:"):]].Config
		}
		path := segments(r.Path)
		if len(path) == 0 {
			continue
		}
		found := catalog.CheckShape(fields, resource.NewPropertyMapFromMap(nest(path, map[string]any{}).(map[string]any)))
		for _, f := range found {
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

func TestUnknownValuesPass(t *testing.T) {
	unknown := resource.MakeComputed(resource.NewStringProperty(""))
	for _, r := range rules.All() {
		path := segments(r.Path)
		if len(path) == 0 {
			continue
		}
		m := nest(path, unknown).(map[string]any)
		for _, f := range rules.Check(exampleType(r.Type), resource.NewPropertyMapFromMap(m)) {
			require.NotContains(t, f.Rule, r.Rule, "%s %s", r.Type, r.Path)
		}
	}
}
