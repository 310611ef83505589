package fault_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/internal/fault"
)

func TestListJoinsInOrderAndSaysAllFourParts(t *testing.T) {
	var l fault.List
	require.NoError(t, l.Join())
	l.Unless(true, "a", 1, "must be 1", "set it")
	require.NoError(t, l.Join())
	l.Unless(false, "a.b", 2, "must be 1", "set it")
	l.Unless(false, "a.c[0]", []string{"x"}, "must be empty", "remove it")
	require.EqualError(t, l.Join(), "a.b: 2 must be 1; set it\na.c[0]: [\"x\"] must be empty; remove it")
	var f fault.Fault
	require.ErrorAs(t, l.Join(), &f)
	require.Equal(t, "a.b", f.Path)
}

func TestLongValuesAreShortened(t *testing.T) {
	f := fault.Fault{Path: "p", Value: strings.Repeat("ü", 500), Rule: "r", Remedy: "m"}
	require.Less(t, len([]rune(f.Error())), 100)
	require.Contains(t, f.Error(), "…")
}

func TestTags(t *testing.T) {
	for _, c := range []struct {
		name string
		tags map[string]string
		want string // "" = none
	}{
		{"none", nil, ""},
		{"usual", map[string]string{"team": "data", "cost centre": "a/b:c=1+2-3@x", "größe": "ü"}, ""},
		{"longest", map[string]string{strings.Repeat("k", 128): strings.Repeat("v", 256)}, ""},
		{"no key", map[string]string{"": "x"}, "t.: "},
		{"long key", map[string]string{strings.Repeat("k", 129): "x"}, "1 to 128"},
		{"long value", map[string]string{"k": strings.Repeat("v", 257)}, "t.k"},
		{"odd key", map[string]string{"a<b": "x"}, "t.a<b"},
		{"odd value", map[string]string{"k": "a\nb"}, "t.k"},
		{"AWS's", map[string]string{"AWS:x": "y"}, "AWS keeps"},
		{"ours", map[string]string{"Name": "y"}, "t.Name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l fault.List
			l.Tags("t", c.tags, "Name")
			if c.want == "" {
				require.NoError(t, l.Join())
				return
			}
			require.ErrorContains(t, l.Join(), c.want)
		})
	}
	many := map[string]string{}
	for i := range 41 {
		many[strings.Repeat("k", i+1)] = ""
	}
	var l fault.List
	l.Tags("t", many)
	require.ErrorContains(t, l.Join(), "t: 41")
}
