// Package testenv decides what a test does on a machine that lacks something it
// needs: skip on a developer's machine, fail in CI, where nothing may skip.
package testenv

import (
	"os"
	"testing"
)

// CI reports whether the tests run in CI (CI=true, as every CI service sets it).
func CI() bool { return os.Getenv("CI") == "true" }

// Long reports whether the forms of tests that take an hour run
// (`make test-long`).
func Long() bool { return os.Getenv("OBSERVATORY_LONG") != "" }

// Repeats returns how often a test repeats something: in an ordinary run, or in
// `make test-long`.
func Repeats(ordinary, long int) int {
	if Long() {
		return long
	}
	return ordinary
}

// RequireLong skips the test in an ordinary run. elsewhere says what runs it, and what
// covers it until then.
func RequireLong(t testing.TB, elsewhere string) {
	t.Helper()
	if !Long() {
		t.Skip(elsewhere)
	}
}

// Require skips the test unless ok; in CI it fails it. missing says what is
// missing, what remains untested, and how to get it.
func Require(t testing.TB, ok bool, missing string) {
	t.Helper()
	switch {
	case ok:
	case CI():
		t.Fatal("in CI nothing may be skipped: " + missing)
	default:
		t.Skip(missing)
	}
}
