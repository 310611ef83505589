package node

import (
	"maps"
	"slices"
	"strings"
)

// firstLine matches the line that begins a log record: every line but blank and
// indented ones and the unindented heads inside Java's and Python's stack traces,
// which belong to the line before ("Caused by: …", "Suppressed: …", and a class
// such as java.io.IOException or ValueError, alone or before a colon).
//
// The file reader moves on only past whole records, so that a collector which is
// killed finds the lines that it had not sent. It has to be told where a record
// begins, in RE2, which cannot say "none of these": the complement is spelled
// out by what follows the line's first word.
//
// Where the reader's buffer ends in the middle of such a head, it takes what it
// has for a line: the trace becomes a record of its own. No text is lost.
func firstLine() string {
	return `^(?:` + strings.Join([]string{
		`[^\s\w$.]`,
		notEndingIn("Caused") + `[^\w$.:\r\n]`,
		notEndingIn("Exception", "Error", "Throwable", "Suppressed") + `(?::|\r?$)`,
	}, "|") + `)`
}

// notEndingIn matches from its start a run of \w, $ and dots that ends in none of
// the endings. No ending may be the end of another.
func notEndingIn(endings ...string) string {
	before := map[string]string{"": ""} // end of an ending, to the characters that lengthen it
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
