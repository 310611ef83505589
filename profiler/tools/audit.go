package tools

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// audit is a line of the audit log: who called which tool, about what, and how much was answered.
// It has no text of a job or of a caller: names of applications, conditions and values are left
// out, and of arguments only the names and ids are kept.
type audit struct {
	Time      time.Time `json:"time"`
	Client    string    `json:"client"`
	Tool      string    `json:"tool"`
	Arguments []string  `json:"arguments"`
	ID        string    `json:"id,omitempty"`
	Millis    int64     `json:"duration_ms"`
	Bytes     int       `json:"answer_bytes"`
	Failed    bool      `json:"failed"`
}

// audited writes a line for each call to a log. Of what a caller sends as names, it has those of
// tools and arguments that there are.
func audited(to io.Writer, known map[string][]string, now func() time.Time) mcp.Middleware {
	var mu sync.Mutex
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			call, is := req.(*mcp.CallToolRequest)
			if !is || to == nil {
				return next(ctx, method, req)
			}
			began := now()
			line := auditOf(call, known, began)
			result, err := next(ctx, method, req)
			line.Millis, line.Failed = now().Sub(began).Milliseconds(), err != nil
			if answer, is := result.(*mcp.CallToolResult); is && err == nil {
				line.Failed = answer.IsError
				for _, content := range answer.Content {
					if text, is := content.(*mcp.TextContent); is {
						line.Bytes += len(text.Text)
					}
				}
			}
			raw, encoding := json.Marshal(line)
			if encoding == nil { // its types always encode
				mu.Lock()
				defer mu.Unlock()
				_, _ = to.Write(append(raw, '\n')) // a full log must not end the answers
			}
			return result, err
		}
	}
}

func auditOf(call *mcp.CallToolRequest, known map[string][]string, at time.Time) audit {
	line := audit{Time: at.UTC(), Tool: "unknown", Arguments: []string{}}
	if extra := call.GetExtra(); extra != nil && extra.Header != nil {
		line.Client = extra.Header.Get(clientHeader)
	}
	names, is := known[call.Params.Name]
	if is {
		line.Tool = call.Params.Name
	}
	var arguments map[string]any
	if json.Unmarshal(call.Params.Arguments, &arguments) != nil {
		return line
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if slices.Contains(names, name) {
			line.Arguments = append(line.Arguments, name)
		}
	}
	for _, name := range []string{"id", "cluster_id"} {
		if id, is := arguments[name].(string); is && isID(id) {
			line.ID = id
			break
		}
	}
	return line
}
