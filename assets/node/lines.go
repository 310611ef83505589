package node

import (
	"maps"
	"slices"
	"strings"
)

// firstLine matches the first line of a log record: every line except blank and
// indented ones and the unindented lines inside Java's and Python's stack traces,
// which continue the line before ("Caused by: …", "Suppressed: …", and a class such
// as java.io.IOException or ValueError, alone or before a colon).
//
// The file reader advances by whole records, so that a collector that was killed
// finds the lines that it had not sent. It needs a pattern for a record's beginning
// in RE2, which has no negation: the complement is spelled out by what follows the
// line's first word.
//
// If the reader's buffer ends inside such a line, it takes what it has as a line, and
// the trace becomes a record of its own. No text is lost.
func firstLine() string {
	return `^(?:` + strings.Join([]string{
		`[^\s\w$.]`,
		notEndingIn("Caused") + `[^\w$.:\r\n]`,
		notEndingIn("Exception", "Error", "Throwable", "Suppressed") + `(?::|\r?$)`,
	}, "|") + `)`
}

// notEndingIn matches a run of \w, $ and dots that ends in none of the endings. No
// ending may be the end of another.
func notEndingIn(endings ...string) string {
	before := map[string]string{"": ""} // suffix of an ending -> the characters that extend it
	for _, ending := range endings {
		for i := len(ending) - 1; i >= 0; i-- {
			end, c := ending[i+1:], ending[i:i+1]
			if !strings.Contains(before[end], c) {
				before[end] += c
			}
		}
	}
	var runs []string
	for _, end := range slices.Sorted(maps.Keys(before)) {
		runs = append(runs, `[\w$.]*(?:[$.]|[^\W`+before[end]+`])`+end)
		if end != "" {
			runs = append(runs, end) // the whole run
		}
	}
	return `(?:` + strings.Join(runs, "|") + `)`
}
