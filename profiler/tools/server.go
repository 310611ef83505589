package tools

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Limits of an answer, in rows.
const (
	defaultLimit = 20
	maxLimit     = 200
)

const instructions = `Spark's history: applications, their stages, and what to change.
Begin with get_application_id; the other tools take its application_id, and cluster_id and attempt_id where ids repeat.
Times are UTC; durations are in milliseconds unless a name says otherwise. An answer with truncated = true has more: ask for less,
or raise limit. Quote "missing" where it is not empty: what it lists was not seen.`

// New returns the server of all tools over rows.
func New(rows Rows, log io.Writer) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: platform.Project + "-history", Version: "1"}, &mcp.ServerOptions{
		Instructions: instructions, Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	a := answers{rows}
	// The short names are those of the notebooks that these tools replace.
	add(s, []string{"get_application_id", "getappid"},
		"Find the ids of Spark applications by name, cluster and day, the latest first.", a.applications)
	add(s, []string{"get_slowest_stages", "getsloweststages"},
		"The slowest stages of a Spark application, with skew, spill and shuffle, what to change, and what is missing.", a.slowestStages)
	add(s, []string{"describe_tables"}, "The tables of Spark's history, and the columns of one of them.", a.describe)
	return s
}

// Serve answers on standard input and output until the client has gone or ctx is done.
// Nothing else may write to standard output.
func Serve(ctx context.Context, rows Rows, log io.Writer) error {
	if err := New(rows, log).Run(ctx, &mcp.StdioTransport{}); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve tools on standard input and output: %w", err)
	}
	return nil
}

// add registers a tool by its names.
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
			defer p.tell(ctx, req)()
			out, err := answer(ctx, p, in)
			return nil, out, err
		})
	}
}

// answers are what the tools do.
type answers struct{ rows Rows }

// limit returns how many rows to show.
func limit(asked int) (int, error) {
	switch {
	case asked == 0:
		return defaultLimit, nil
	case asked < 0 || asked > maxLimit:
		return 0, fmt.Errorf("limit %d: must be 1 to %d", asked, maxLimit)
	}
	return asked, nil
}
