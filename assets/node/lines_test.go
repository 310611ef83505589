package node_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/emr-observatory/emr-observatory/assets/node"
)

// continuation matches exactly the lines that firstLine must not match.
var continuation = regexp.MustCompile(`^(\s|$|[\w$.]*Caused[^\w$.:\r]|[\w$.]*(Exception|Error|Throwable|Suppressed)(:|\r?$))`)

// firstLine returns the pattern as the collector compiles it, from its configuration.
func firstLine(t *testing.T) *regexp.Regexp {
	t.Helper()
	text, err := node.CollectorConfig()
	require.NoError(t, err)
	var config struct {
		Receivers map[string]struct {
			Multiline struct {
				Pattern string `yaml:"line_start_pattern"`
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &config))
	pattern := ""
	for name, r := range config.Receivers {
		if strings.HasPrefix(name, "file_log/") {
			require.NotEmpty(t, r.Multiline.Pattern, name)
			pattern = r.Multiline.Pattern
		}
	}
	return regexp.MustCompile("(?m)" + strings.ReplaceAll(pattern, "$$", "$"))
}

func TestFirstLines(t *testing.T) {
	pattern := firstLine(t)
	for line, first := range map[string]bool{
		"26/11/20 10:00:00 INFO SparkContext: Running": true, "[GC pause]": true, `{"a": 1}`: true, "total: 5": true, "done": true, "r": true,
		"Traceback (most recent call last):": true, `Exception in thread "main" java.lang.Error: x`: true, "Cause: none": true, "Caused: x": true,
		"\tat a.b.C(D.scala:7)": false, "  File \"job.py\"": false, "": false, "Caused by: java.io.IOException: gone": false,
		"Suppressed: java.lang.Exception": false, "java.io.IOException: gone": false,
		"java.lang.OutOfMemoryError": false, "ValueError: bad row": false,
		"Exception": false, "ValueError\r": false, "done\r": true, "xn: 1": true, "tion: 1": true, "on": true,
	} {
		require.Equal(t, first, pattern.MatchString(line), "%q", line)
		require.NotEqual(t, first, continuation.MatchString(line), "%q", line)
	}
}

// The random lines consist of what could confuse the pattern: endings, truncated or
// repeated, and separators.
func TestFirstLineComplementsContinuation(t *testing.T) {
	pattern := firstLine(t)
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"Exception", "Error", "Throwable", "Suppressed", "Caused", "by", ":", " ", "\t", ".", "$", "_", "é", "-", "7", "x"}
	matched := 0
	for range 200_000 {
		var line strings.Builder
		for range random.IntN(5) {
			part := parts[random.IntN(len(parts))]
			from := random.IntN(len(part))
			line.WriteString(part[min(from*random.IntN(2), len(part)-1):])
		}
		text := strings.ToValidUTF8(line.String(), "?")
		first := pattern.MatchString(text)
		require.NotEqual(t, first, continuation.MatchString(text), "%q", text)
		if first {
			matched++
		}
	}
	require.Greater(t, matched, 20_000)
	require.Less(t, matched, 180_000)
}
