// Package architecture tests the shape of the repository: which folder may import
// which, and what no linter checks. It reads sources only and starts nothing.
package architecture
