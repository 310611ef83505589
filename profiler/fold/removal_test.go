package fold

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Removals are classified as by the driver's plugin, whose test reads the same file
// (assets/node, TestPluginFindsParentsAndReasons).
func TestRemoveClass(t *testing.T) {
	texts, err := os.ReadFile("testdata/removals.txt")
	require.NoError(t, err)
	classes := map[string]bool{}
	for line := range strings.Lines(string(texts)) {
		text, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " > ")
		require.True(t, ok, line)
		dynamic, fixed, two := strings.Cut(want, " or ")
		if !two {
			fixed = dynamic
		}
		require.Equal(t, dynamic, *removeClass(&text, true), text)
		require.Equal(t, fixed, *removeClass(&text, false), text)
		classes[dynamic] = true
	}
	require.Len(t, classes, 7, "every class")
	require.Nil(t, removeClass(nil, true), "it was not removed")
}
