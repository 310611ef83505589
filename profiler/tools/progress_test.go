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
)

// slowRows has an application with three stages, and takes this time for each row.
type slowRows time.Duration

func (s slowRows) Applications(context.Context, lake.Filter) iter.Seq2[tables.Application, error] {
	return func(yield func(tables.Application, error) bool) {
		time.Sleep(time.Duration(s))
		yield(tables.Application{Attempt: tables.Attempt{ApplicationID: application}}, nil)
	}
}

func (s slowRows) Attempt(_ context.Context, _ tables.Attempt, sink tables.Sink) error {
	for n := range int64(3) {
		time.Sleep(time.Duration(s))
		row := &tables.StageRow{Stage: tables.Stage{StageID: n}, SubmissionTime: 1}
		if err := sink.Put(row); err != nil {
			return err
		}
	}
	return nil
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

// callSlowest calls get_slowest_stages, with a progress token unless it is nil.
func callSlowest(t *testing.T, s *mcp.ClientSession, token any) {
	t.Helper()
	params := &mcp.CallToolParams{Name: "get_slowest_stages", Arguments: map[string]any{"application_id": application}}
	if token != nil {
		params.SetProgressToken(token)
	}
	result, err := s.CallTool(t.Context(), params)
	require.NoError(t, err)
	require.False(t, result.IsError)
	out, _ := result.StructuredContent.(map[string]any)
	require.Len(t, out["stages"], 3)
}

// A client that sends a token is notified at intervals during a long call, and not after it.
func TestProgressOfLongCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &notified{}
		s := connectWith(t, slowRows(3300*time.Millisecond), p.options())
		for _, token := range []any{"token", 7} {
			callSlowest(t, s, token)
			reading := "read the stages of " + application + ": "
			want := []mcp.ProgressNotificationParams{
				{Progress: 2, Message: "find application " + application + ": 0 rows so far"},
				{Progress: 4, Message: reading + "0 rows so far"},
				{Progress: 6, Message: reading + "0 rows so far"},
				{Progress: 8, Message: reading + "1 rows so far"},
				{Progress: 10, Message: reading + "2 rows so far"},
				{Progress: 12, Message: reading + "2 rows so far"},
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
	synctest.Test(t, func(t *testing.T) {
		p := &notified{}
		callSlowest(t, connectWith(t, slowRows(time.Minute), p.options()), nil)
		callSlowest(t, connectWith(t, slowRows(0), p.options()), "token")
		time.Sleep(time.Hour)
		require.Empty(t, p.take())
	})
}

// Cancelling a call ends its notifications.
func TestProgressOfCancelledCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &notified{}
		s := connectWith(t, slowRows(time.Minute), p.options())
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		params := &mcp.CallToolParams{Name: "get_slowest_stages", Arguments: map[string]any{"application_id": application}}
		params.SetProgressToken("token")
		_, err := s.CallTool(ctx, params)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, p.take(), 2)
		time.Sleep(time.Hour)
		require.Empty(t, p.take())
	})
}
