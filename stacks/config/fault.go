package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"unicode/utf8"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Fault is one thing wrong with the configuration.
type Fault struct {
	Path   string // emr.core.count
	Value  string // as found, shortened
	Rule   string // what it must be
	Remedy string // what to do
}

// Error says all four parts on one line.
func (f Fault) Error() string {
	return fmt.Sprintf("%s:%s: %s %s; %s", platform.Project, f.Path, f.Value, f.Rule, f.Remedy)
}

// Parts gives all four parts as Error shows them.
func (f Fault) Parts() (path, value, rule, remedy string) {
	return platform.Project + ":" + f.Path, f.Value, f.Rule, f.Remedy
}

// hidden stands for a value that may hold a secret.
const hidden = "[hidden]"

// show renders a value as it would stand in a stack file, shortened to stay
// readable in a list of faults.
func show(value any) string {
	const longest = 80
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprintf("%T", value)
	}
	b := bytes.TrimSpace(out.Bytes())
	if utf8.RuneCount(b) > longest {
		return string([]rune(string(b))[:longest]) + "…"
	}
	return string(b)
}

// setRemedy is the remedy where no better one is known.
func setRemedy(path string) string {
	return fmt.Sprintf("set it with `pulumi config set --path '%s:%s' …`", platform.Project, path)
}

var indices = regexp.MustCompile(`\[\d+\]`)

// ruleOf finds the rule of a path in the struct's tags. Entries of lists and
// maps share the rule of their list or map.
func ruleOf(path string) string {
	bare := indices.ReplaceAllString(path, "")
	for _, f := range Fields() {
		if f.Path == bare {
			return f.Rule
		}
	}
	return ""
}
