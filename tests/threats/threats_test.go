package threats_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/tests/cited"
)

var update = flag.Bool("update", false, "regenerate the reference")

// Each attack that is answered has tests that make it, and they exist.
func TestReference(t *testing.T) {
	known := cited.Tests{}
	var text strings.Builder
	text.WriteString("# Threats\n\nWho could read, flood or stop what is not theirs, and what happens if they try. Generated from " +
		"`tests/threats` by `make generate`.\n\n## Attacks that fail\n\n| who | attack | answer | tests that make it |\n|---|---|---|---|\n")
	for _, a := range answered() {
		require.NotEmpty(t, a.tests, a.attack)
		tests := make([]string, len(a.tests))
		for i, name := range a.tests {
			folder, function, ok := strings.Cut(name, " ")
			require.True(t, ok && known.Has(t, folder, function), "%s: there is no test %s", a.attack, name)
			tests[i] = "`" + name + "`"
		}
		fmt.Fprintf(&text, "| %s | %s | %s | %s |\n", a.who, a.attack, a.answer, strings.Join(tests, ", "))
	}
	text.WriteString("\n## Accepted risks\n\n| who | attack | why, and how to close it |\n|---|---|---|\n")
	for _, a := range accepted() {
		require.Empty(t, a.tests, a.attack)
		fmt.Fprintf(&text, "| %s | %s | %s |\n", a.who, a.attack, a.answer)
	}
	cited.RequirePage(t, *update, "../../docs/reference/threats.md", text.String())
}
