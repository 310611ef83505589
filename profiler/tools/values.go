package tools

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/emr-observatory/emr-observatory/phases/redaction"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// textLimit is the number of characters to which texts are cut.
const textLimit = 300

// mark marks a text that a job or its author wrote: a reader must not take it for an instruction.
// It is cut, and has neither control characters nor ones that are not seen. The marks themselves
// cannot be within it.
func mark(text string) string {
	if text == "" {
		return ""
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '«':
			return '‹'
		case r == '»':
			return '›'
		case unicode.Is(unicode.Cf, r): // such as those that change the direction of a text
			return -1
		case unicode.IsControl(r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r):
			return ' '
		}
		return r
	}, redaction.New(nil).Text(text, textLimit))
	return "«" + strings.TrimSpace(text) + "»"
}

// unmark takes the marks off a text that a reader copied from an answer.
func unmark(text string) string {
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "«"), "»"))
}

// plainForm matches names that cannot be read as a sentence: of properties, users, hosts, operators.
var plainForm = regexp.MustCompile(`^[A-Za-z0-9_.:@/$+-]{1,120}$`)

// name marks a name that an author may have chosen, unless it cannot be read as a sentence.
func name(text string) string {
	if plainForm.MatchString(text) {
		return text
	}
	return mark(text)
}

// significant rounds to three significant digits.
func significant(value float64) float64 {
	if value == 0 || math.IsInf(value, 0) || math.IsNaN(value) {
		return 0
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 3, 64), 64) // it was formatted
	return rounded
}

// measured rounds a measurement, such as milliseconds or bytes.
func measured[N int64 | float64](value N) int64 { return int64(significant(float64(value))) }

// measuredOr is measured of a value that may be unknown.
func measuredOr[N int64 | float64](value *N) *int64 {
	if value == nil {
		return nil
	}
	return new(measured(*value))
}

// share is part of whole, from 0 on; nil if the whole is unknown.
func share[N int64 | float64](part, whole N) *float64 {
	if whole <= 0 {
		return nil
	}
	return new(significant(float64(part) / float64(whole)))
}

// coreHours converts core-milliseconds.
func coreHours(millis float64) float64 { return significant(millis / millisPerHour) }

const millisPerHour = 3.6e6

// known returns a value, zero if it is unknown.
func known[T any](value *T) (v T) {
	if value != nil {
		v = *value
	}
	return v
}

// formatTime formats a time as RFC 3339 in UTC; 0, which means unknown, is "".
func formatTime(at tables.Millis) string {
	if at == 0 {
		return ""
	}
	return time.UnixMilli(at).UTC().Format(time.RFC3339)
}

// numbered is a number as a key that sorts as the number does.
func numbered(numbers ...int64) string {
	var b strings.Builder
	for _, n := range numbers {
		b.WriteString(strings.Repeat("0", max(0, 19-len(strconv.FormatInt(n, 10)))))
		b.WriteString(strconv.FormatInt(n, 10))
		b.WriteByte('.')
	}
	return b.String()
}

// order puts large values first, and equal ones by their names.
func order(a, b int64, nameA, nameB string) int {
	return cmp.Or(cmp.Compare(b, a), cmp.Compare(nameA, nameB))
}

// firstLine is the first line of a text of a job.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// union returns the keys of two maps, sorted.
func union[V any](a, b map[string]V) []string {
	all := map[string]bool{}
	for _, of := range []map[string]V{a, b} {
		for key := range of {
			all[key] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// mostListed bounds the lists of ids within a row.
const mostListed = 20

// few returns the first ids of a list, which is never nil.
func few(ids []int64) []int64 { return orEmpty(ids)[:min(len(ids), mostListed)] }
