// Package lessons lists defects of similar platforms with the tests that would detect
// them here, and what has not been tried on AWS with what is tested instead. Its tests
// check that each cited test exists, generate docs/reference/lessons.md and
// not-tried.md, and check rendered configurations where a lesson spans several
// packages.
package lessons
