package spans

import (
	"regexp"
	"strings"
)

// Longest texts on a span, in characters.
const (
	descriptionLimit = 256
	messageLimit     = 1024
)

// hidden is Spark's replacement (org.apache.spark.util.Utils.REDACTION_REPLACEMENT_TEXT).
const hidden = "*********(redacted)"

// defaultKeys is Spark's default of spark.redaction.regex.
const defaultKeys = `(?i)secret|password|token|access[.]?key`

// redaction hides what Spark would hide in the texts of users.
type redaction struct {
	texts, values *regexp.Regexp // nil: none
	all           bool           // a pattern is not one of Go's
}

func newRedaction(properties map[string]string) redaction {
	var r redaction
	compile := func(expression string) *regexp.Regexp {
		compiled, err := regexp.Compile(expression)
		r.all = r.all || err != nil
		return compiled
	}
	if texts := properties["spark.redaction.string.regex"]; texts != "" {
		r.texts = compile(texts)
	}
	keys := properties["spark.redaction.regex"]
	if keys == "" {
		keys = defaultKeys
	}
	// In prose a name is followed by = or :, and then by its value.
	r.values = compile(`([\w.\-]*(?:` + keys + `)[\w.\-]*["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;)]+)`)
	return r
}

// text returns at most limit characters of the redacted text.
func (r redaction) text(text string, limit int) string {
	if text == "" {
		return ""
	}
	if r.all {
		return hidden
	}
	piece := cut(text, 4*limit) // a match may cross the cut
	if r.texts != nil {
		piece = r.texts.ReplaceAllLiteralString(piece, hidden)
	}
	piece = r.values.ReplaceAllString(piece, "${1}"+strings.ReplaceAll(hidden, "$", "$$"))
	return cut(piece, limit)
}

// cut returns the first characters of a text.
func cut(text string, characters int) string {
	count := 0
	for at := range text {
		if count == characters {
			return text[:at]
		}
		count++
	}
	return text
}
