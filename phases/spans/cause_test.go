package spans

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The plugin's Causes is held to the same table.
func TestCauseFirst(t *testing.T) {
	text, err := os.ReadFile("../testdata/causes.json")
	require.NoError(t, err)
	var cases []struct{ Name, Failure, Cause string }
	require.NoError(t, json.Unmarshal(text, &cases))
	require.Greater(t, len(cases), 15)
	for _, c := range cases {
		want := c.Failure
		if c.Cause != "" {
			want = c.Cause + "\n" + c.Failure
		}
		require.Equal(t, want, causeFirst(c.Failure), c.Name)
	}
	far := "a.B: " + strings.Repeat("😀", causeLimit) + "\nCaused by: c.D: no"
	require.Equal(t, far, causeFirst(far), "the driver's spans are those of its log, which keeps so much")
}
