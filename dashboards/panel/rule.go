package panel

import (
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/rules"
)

// StepsOf colours a panel by the limit that a rule has for what runs.
func StepsOf(id rules.ID) []Limit { return steps(rules.Get(id).Running().Limit) }

// steps starts with the first colour that is not green. A limit without a separate critical
// value has one step, which needs action.
func steps(l rules.Limit) []Limit {
	switch {
	case l.LessIsWorse():
		return []Limit{{belowAll, Red}, {l.Critical, Orange}, {l.Warn, Green}}
	case l.Warn == l.Critical:
		return []Limit{{l.Warn, Red}}
	}
	return []Limit{{l.Warn, Orange}, {l.Critical, Red}}
}

// belowAll is less than any value of a panel with limits.
const belowAll = -1

// Any colours every value from one on, for counts that should be zero.
func Any(color Color) []Limit { return []Limit{{1, color}} }

// Up colours states: 1 is healthy, 0 needs action.
func Up() []Limit { return []Limit{{belowAll, Red}, {1, Green}} }

// Bad writes what bad looks like by the limit that a rule has for what runs: {warn} and
// {critical} in the text become its values with their unit. It panics if another brace is left.
func Bad(id rules.ID, text string) string {
	running := rules.Get(id).Running()
	text = strings.NewReplacer(
		"{warn}", rules.Format(running.Warn, running.Unit),
		"{critical}", rules.Format(running.Critical, running.Unit),
	).Replace(text)
	if strings.ContainsAny(text, "{}") {
		panic(fmt.Sprintf("text for rule %s: %q has more than {warn} and {critical}", id, text))
	}
	return text
}
