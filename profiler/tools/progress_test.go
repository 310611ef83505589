package tools_test

import (
	"context"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
)

// slowRows takes this time for the list of applications, and for each application.
type slowRows struct {
	tools.Rows

	each time.Duration
}

func (s slowRows) Applications(ctx context.Context, f lake.Filter) iter.Seq2[tables.Application, error] {
	time.Sleep(s.each)
	return s.Rows.Applications(ctx, f)
}

func (s slowRows) Held(ctx context.Context, id tables.Attempt) (*lake.Held, error) {
	time.Sleep(s.each)
	return s.Rows.Held(ctx, id)
}

// notified collects the progress notifications that a client receives.
type notified struct {
	mu  sync.Mutex
	all []mcp.ProgressNotificationParams
}

func (p *notified) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.all = append(p.all, *req.Params)
	}}
}

func (p *notified) take() []mcp.ProgressNotificationParams {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.all
	p.all = nil
	return all
}

// callSlowest calls getsloweststages, with a progress token unless it is nil.
func callSlowest(t *testing.T, s *mcp.ClientSession, token any) {
	t.Helper()
	params := &mcp.CallToolParams{Name: "getsloweststages", Arguments: map[string]any{"id": application}}
	if token != nil {
		params.SetProgressToken(token)
	}
	result, err := s.CallTool(t.Context(), params)
	require.NoError(t, err)
	require.False(t, result.IsError)
	out, _ := result.StructuredContent.(map[string]any)
	require.Len(t, out["rows"], 20)
}

// A client that sends a token is notified at intervals during a long call, and not after it.
func TestProgressOfLongCalls(t *testing.T) {
	rows := fromLake(t, logs)
	synctest.Test(t, func(t *testing.T) {
		p := &notified{}
		s := connectWith(t, slowRows{rows, 3300 * time.Millisecond}, p.options())
		for _, token := range []any{"token", 7} {
			callSlowest(t, s, token)
			want := []mcp.ProgressNotificationParams{
				{Progress: 2, Message: "find " + application + ": 0 rows so far"},
				{Progress: 4, Message: "read " + application + ": 0 rows so far"},
				{Progress: 6, Message: "read " + application + ": 0 rows so far"},
			}
			all := p.take()
			require.Len(t, all, len(want))
			for i := range want {
				want[i].ProgressToken = token
				if number, ok := token.(int); ok {
					want[i].ProgressToken = float64(number) // as JSON decodes it
				}
				want[i].Meta = all[i].Meta
			}
			require.Equal(t, want, all)
			time.Sleep(time.Hour)
			require.Empty(t, p.take())
		}
	})
}

// A call without a token, or with an immediate result, sends no notifications.
func TestCallsWithoutProgress(t *testing.T) {
	rows := fromLake(t, logs)
	synctest.Test(t, func(t *testing.T) {
		p := &notified{}
		callSlowest(t, connectWith(t, slowRows{rows, time.Minute}, p.options()), nil)
		callSlowest(t, connectWith(t, slowRows{rows, 0}, p.options()), "token")
		time.Sleep(time.Hour)
		require.Empty(t, p.take())
	})
}

// Cancelling a call ends its notifications.
func TestProgressOfCancelledCalls(t *testing.T) {
	rows := fromLake(t, logs)
	synctest.Test(t, func(t *testing.T) {
		p := &notified{}
		s := connectWith(t, slowRows{rows, time.Minute}, p.options())
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		params := &mcp.CallToolParams{Name: "getsloweststages", Arguments: map[string]any{"id": application}}
		params.SetProgressToken("token")
		_, err := s.CallTool(ctx, params)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, p.take(), 2)
		time.Sleep(time.Hour)
		require.Empty(t, p.take())
	})
}
