package platform_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

// The plugin follows the same rule: assets/node, TestPluginFindsParentsAndReasons.
func TestParseTraceparent(t *testing.T) {
	const trace, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for _, text := range []string{
		"00-" + trace + "-" + span + "-01", " 00-" + trace + "-" + span + "-00\n", "00-" + trace + "-" + span + "-ff",
		"cc-" + trace + "-" + span + "-03-more", "01-" + trace + "-" + span + "-01-",
	} {
		gotTrace, gotSpan, sampled, ok := platform.ParseTraceparent(text)
		require.True(t, ok, "%q", text)
		require.Equal(t, []string{trace, span}, []string{fmt.Sprintf("%x", gotTrace), fmt.Sprintf("%x", gotSpan)}, "%q", text)
		require.Equal(t, !strings.Contains(text, span+"-00"), sampled, "%q", text)
	}
	for _, text := range []string{
		"", "nonsense", "00", "ff-" + trace + "-" + span + "-01", "00-" + strings.Repeat("0", 32) + "-" + span + "-01",
		"00-" + trace + "-" + strings.Repeat("0", 16) + "-01", "00-" + strings.ToUpper(trace) + "-" + span + "-01",
		"00-" + trace + "-" + span, "00-" + trace + "-" + span + "-1", "00-" + trace + "-" + span + "-01more", "0-" + trace + "-" + span + "-01",
		"00-" + trace[1:] + "-" + span + "-01", "00-" + trace + "0-" + span + "-01", "00-" + trace + "-" + span[1:] + "-01",
		"00-" + trace[1:] + "g-" + span + "-01", "00-" + strings.Repeat("x", 32) + "-x-x", "00-" + trace + "-" + span + "-01\n-more",
	} {
		gotTrace, gotSpan, sampled, ok := platform.ParseTraceparent(text)
		require.False(t, ok, "%q", text)
		require.Zero(t, gotTrace)
		require.Zero(t, gotSpan)
		require.False(t, sampled)
	}
}
