// Package tools lets language models query Spark's history: it is a server of the Model
// Context Protocol (MCP).
//
// The tools read the lake, or event logs and history servers directly, through the same
// interface, and change nothing. Results are bounded: they say how many rows there are, and
// whether they were truncated. A client that sends a progress token is notified of the
// progress of a long call. Secrets are already redacted in the rows.
//
// The package has no rules about what is slow or wrong: those are in package findings.
package tools
