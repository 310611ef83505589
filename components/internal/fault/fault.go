// Package fault gathers everything that is wrong with a component's arguments,
// so that one run tells all of it. It is not for errors of the engine or of a
// provider: those name their resource and are wrapped where they occur.
package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Fault is one wrong argument.
type Fault struct {
	Path   string // emr.core.count
	Value  any    // as found
	Rule   string // "must be …"
	Remedy string // what to do about it
}

// Error says all four parts on one line; a long value is shortened.
func (f Fault) Error() string {
	return fmt.Sprintf("%s: %s %s; %s", f.Path, show(f.Value), f.Rule, f.Remedy)
}

// Parts gives all four parts as Error shows them.
func (f Fault) Parts() (path, value, rule, remedy string) {
	return f.Path, show(f.Value), f.Rule, f.Remedy
}

// List collects faults; its zero value is empty.
type List struct{ faults []error }

// Unless records a fault when ok is false.
func (l *List) Unless(ok bool, path string, value any, rule, remedy string) {
	if !ok {
		l.faults = append(l.faults, Fault{path, value, rule, remedy})
	}
}

// Join gives all faults as one error, nil when there are none.
func (l *List) Join() error { return errors.Join(l.faults...) }

func show(value any) string {
	const longest = 80 // a list of faults stays readable
	b, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%T", value)
	}
	if utf8.RuneCount(b) > longest {
		return string([]rune(string(b))[:longest]) + "…"
	}
	return string(b)
}

// Region is the pattern of an AWS region's name.
var Region = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-\d{1,2}$`)

var tagText = regexp.MustCompile(`^[\p{L}\p{N}\p{Z}_.:/=+\-@]*$`)

// Tags checks the caller's tags by the rules of the AWS Tagging User Guide
// ("Tag naming and usage limits"). Keys in reserved are the component's own.
func (l *List) Tags(path string, tags map[string]string, reserved ...string) {
	const most = 40 // AWS allows 50 on a resource; the platform adds its own
	l.Unless(len(tags) <= most, path, len(tags), fmt.Sprintf("must be at most %d tags", most), "remove some")
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		v, at := tags[k], path+"."+k
		l.Unless(len(k) >= 1 && len(k) <= 128 && len(v) <= 256, at, v, "must have a key of 1 to 128 and a value of at most 256 bytes", "shorten it")
		l.Unless(tagText.MatchString(k) && tagText.MatchString(v), at, v, "must hold only letters, digits, spaces and _.:/=+-@", "replace the other characters")
		l.Unless(!strings.HasPrefix(strings.ToLower(k), "aws:"), at, v, "must not start with aws:, which AWS keeps for itself", "rename the key")
		for _, r := range reserved {
			l.Unless(k != r, at, v, "is set by the platform itself", "remove it")
		}
	}
}
