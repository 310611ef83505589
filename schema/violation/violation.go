// Package violation collects everything that is wrong with a configuration or
// with a component's arguments, so that one run reports all of it. It is not
// for errors of the engine or of a provider: those are wrapped where they occur.
package violation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Violation is one value that breaks a rule.
type Violation struct {
	Path   string // clusters.main.core.count
	Value  string // as found, shortened
	Rule   string // "must be …"
	Remedy string // what to do about it
}

// Error formats all four parts on one line.
func (v Violation) Error() string {
	return fmt.Sprintf("%s: %s %s; %s", v.Path, v.Value, v.Rule, v.Remedy)
}

type placeholder string

// Values that are not shown.
const (
	Hidden  placeholder = "[hidden]" // may hold a secret
	Secret  placeholder = "[secret]" // is marked as one
	Unknown placeholder = "(unknown)"
)

// List collects violations. Its zero value is empty.
type List struct {
	// Prefix is put before each path: the namespace of configuration keys.
	Prefix string
	// Remedy is what an empty remedy becomes; "": the command that sets the key.
	Remedy string

	found      []error
	warned     []Violation
	unreadable []string
	hidden     []string
	shown      []string // although below a hidden path
}

// Require records a violation unless ok. An empty remedy becomes the command that
// sets the key. Paths that were marked unreadable are skipped.
func (l *List) Require(ok bool, path string, value any, rule, remedy string) {
	if !ok && !l.within(l.unreadable, path) {
		l.found = append(l.found, l.violation(path, value, rule, remedy))
	}
}

// Warn records what is allowed, and yet hardly what its author wants: nothing is
// refused for it.
func (l *List) Warn(ok bool, path string, value any, rule, remedy string) {
	if !ok && !l.within(l.unreadable, path) {
		l.warned = append(l.warned, l.violation(path, value, rule, remedy))
	}
}

// within reports whether path is one of the paths or below one.
func (l *List) within(paths []string, path string) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		return path == p || strings.HasPrefix(path, p+".") || strings.HasPrefix(path, p+"[")
	})
}

func (l *List) violation(path string, value any, rule, remedy string) Violation {
	if l.within(l.hidden, path) && !l.within(l.shown, path) || value == string(Secret) {
		value = Secret
	}
	if remedy == "" {
		remedy = cmp.Or(l.Remedy, SetRemedy(path))
	}
	return Violation{l.Prefix + path, show(value), rule, remedy}
}

// Unreadable records a violation of a value that cannot be decoded: later checks
// of the path and below are skipped.
func (l *List) Unreadable(path string, value any, rule, remedy string) {
	l.Require(false, path, value, rule, remedy)
	l.unreadable = append(l.unreadable, path)
}

// Hide makes later violations of a path and below show no value.
func (l *List) Hide(path string) { l.hidden = append(l.hidden, path) }

// Show makes later violations of a path and below show their values although Hide covers
// them: no secret can be there.
func (l *List) Show(path string) { l.shown = append(l.shown, path) }

// Add records another error.
func (l *List) Add(err error) {
	if err != nil {
		l.found = append(l.found, err)
	}
}

// Take records what another list, with the same prefix, has of a path and below.
func (l *List) Take(other *List, path string) {
	of := func(v Violation) bool {
		own := strings.TrimPrefix(v.Path, l.Prefix)
		return l.within([]string{path}, own) && !l.within(l.unreadable, own)
	}
	hide := func(v Violation) Violation {
		if l.within(l.hidden, strings.TrimPrefix(v.Path, l.Prefix)) {
			v.Value = string(Secret)
		}
		return v
	}
	for _, v := range All(other.Err()) {
		if of(v) {
			l.found = append(l.found, hide(v))
		}
	}
	for _, v := range other.warned {
		if of(v) {
			l.warned = append(l.warned, hide(v))
		}
	}
}

// Err joins what was recorded, ordered by text; it is nil when there is nothing.
func (l *List) Err() error {
	found := slices.Clone(l.found)
	slices.SortStableFunc(found, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(found...)
}

// Warnings returns what was warned of, ordered by text.
func (l *List) Warnings() []Violation {
	out := slices.Clone(l.warned)
	slices.SortStableFunc(out, func(a, b Violation) int { return strings.Compare(a.Error(), b.Error()) })
	return out
}

// All returns the violations in an error of a List, at any depth.
func All(err error) []Violation {
	var out []Violation
	switch e := err.(type) { //nolint:errorlint // visits each error of the tree itself
	case Violation:
		out = append(out, e)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			out = append(out, All(one)...)
		}
	case interface{ Unwrap() error }:
		out = All(e.Unwrap())
	}
	return out
}

// SetRemedy returns the remedy if no better one is known.
func SetRemedy(path string) string {
	return fmt.Sprintf("set it with `pulumi config set --path '%s:%s' …`", platform.Project, path)
}

// SetDecimalRemedy is SetRemedy for a number that need not be an integer, which Pulumi
// stores as text unless it is told otherwise.
func SetDecimalRemedy(path string) string {
	return fmt.Sprintf("set it with `pulumi config set --type float --path '%s:%s' …`", platform.Project, path)
}

// credentials matches keys of AWS and passwords in URLs.
var credentials = regexp.MustCompile(platform.AWSAccessKeyID + `|` + platform.URLPassword)

// show renders a value as it appears in a stack file, shortened so that a list
// of violations stays readable.
func show(value any) string {
	if p, ok := value.(placeholder); ok {
		return string(p)
	}
	const longest = 80
	text := JSON(value)
	if strings.Contains(text, "PRIVATE KEY") || credentials.MatchString(text) { // in the wrong place
		return string(Hidden)
	}
	if utf8.RuneCountInString(text) > longest {
		return string([]rune(text)[:longest]) + "…"
	}
	return text
}

// JSON renders a value as compact JSON, with <, > and & unescaped. For a value that cannot
// be encoded, it returns the name of its Go type.
func JSON(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprintf("%T", value)
	}
	return string(bytes.TrimSpace(out.Bytes()))
}
