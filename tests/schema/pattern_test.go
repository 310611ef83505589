package schema_test

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomMatch returns a random string that matches a pattern. Unbounded repetitions
// are repeated at most openRepeats times more than required.
func randomMatch(r *rand.Rand, pattern *regexp.Regexp) string {
	parsed, err := syntax.Parse(pattern.String(), syntax.Perl)
	if err != nil {
		return ""
	}
	var b strings.Builder
	writeMatch(r, &b, parsed.Simplify())
	return b.String()
}

const openRepeats = 3

func writeMatch(r *rand.Rand, b *strings.Builder, re *syntax.Regexp) {
	repeat := func(low, high int) {
		for range low + r.IntN(high-low+1) {
			writeMatch(r, b, re.Sub[0])
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(randomRune(r, re.Rune))
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			writeMatch(r, b, sub)
		}
	case syntax.OpAlternate:
		writeMatch(r, b, re.Sub[r.IntN(len(re.Sub))])
	case syntax.OpStar:
		repeat(0, openRepeats)
	case syntax.OpPlus:
		repeat(1, openRepeats)
	case syntax.OpQuest:
		repeat(0, 1)
	}
}

// randomRune returns a rune of a class given as pairs of bounds, preferably a
// printable ASCII character.
func randomRune(r *rand.Rand, bounds []rune) rune {
	const first, last = ' ', '~'
	for range 20 {
		c := first + rune(r.IntN(last-first+1))
		for i := 0; i < len(bounds); i += 2 {
			if c >= bounds[i] && c <= bounds[i+1] {
				return c
			}
		}
	}
	i := 2 * r.IntN(len(bounds)/2)
	return bounds[i] + rune(r.IntN(int(bounds[i+1]-bounds[i])+1))
}

func TestRandomMatchMatchesItsPattern(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range []string{`^[a-z]{2}(-[a-z]+)+-\d$`, `^(a|bc)?x{2,4}$`, `^spark\.[^\s=]+$`, `^vpc-([0-9a-f]{8}|[0-9a-f]{17})$`} {
		re, seen := regexp.MustCompile(p), map[string]bool{}
		for range 200 {
			s := randomMatch(r, re)
			require.Regexp(t, re, s)
			seen[s] = true
		}
		require.Greater(t, len(seen), 5, p)
	}
}
