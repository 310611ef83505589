// Package tools answers questions about Spark's history for programs that talk to a
// language model: a server of the Model Context Protocol (MCP).
//
// The tools read the lake, or event logs and history servers directly, through the same
// interface, and change nothing. Answers are bounded: they say how much there is, and
// whether they were cut. A client that asks for it is told how far a long answer has
// come. Secrets are hidden already in the rows.
//
// It has no rule of its own about what is slow or wrong: that is in package findings.
package tools
