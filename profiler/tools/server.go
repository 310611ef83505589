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

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Limits of a result, in rows.
const (
	defaultLimit = 20
	maxLimit     = 200
)

const instructions = `Spark's history: applications, their stages, and what to change.
Start with get_application_id; the other tools take its application_id, and cluster_id and attempt_id where ids repeat.
Times are UTC; durations are in milliseconds unless a name says otherwise. If truncated is true there are more rows: narrow the
request, or raise limit. If "missing" is not empty, report it: it lists what could not be seen.`

// New returns a server with all tools over rows.
func New(rows Rows, log io.Writer) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: platform.Project + "-history", Version: "1"}, &mcp.ServerOptions{
		Instructions: instructions, Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	a := answers{rows}
	// The short names are those of the notebooks that these tools replace.
	add(s, []string{"get_application_id", "getappid"},
		"Find the ids of Spark applications by name, cluster and day, the latest first.", a.applications)
	add(s, []string{"get_slowest_stages", "getsloweststages"},
		"List the slowest stages of a Spark application, with skew, spill and shuffle, what to change, and what is missing.", a.slowestStages)
	add(s, []string{"describe_tables"}, "List the tables of Spark's history, or the columns of one of them.", a.describe)
	return s
}

// Serve serves on standard input and output until the client is gone or ctx is done.
// Nothing else may write to standard output.
func Serve(ctx context.Context, rows Rows, log io.Writer) error {
	if err := New(rows, log).Run(ctx, &mcp.StdioTransport{}); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve tools on standard input and output: %w", err)
	}
	return nil
}

// add registers a tool under each of its names.
func add[In, Out any](s *mcp.Server, names []string, description string, answer func(context.Context, *progress, In) (Out, error)) {
	for i, name := range names {
		tool := &mcp.Tool{
			Name: name, Description: description,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)},
		}
		if i > 0 {
			tool.Description = "Same as " + names[0] + ". " + description
		}
		mcp.AddTool(s, tool, func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
			p := &progress{}
			defer p.notify(ctx, req)()
			out, err := answer(ctx, p, in)
			return nil, out, err
		})
	}
}

// answers implements the tools.
type answers struct{ rows Rows }

// limit returns how many rows to show; requested is 0 for the default.
func limit(requested int) (int, error) {
	switch {
	case requested == 0:
		return defaultLimit, nil
	case requested < 0 || requested > maxLimit:
		return 0, fmt.Errorf("limit %d: must be 1 to %d", requested, maxLimit)
	}
	return requested, nil
}
