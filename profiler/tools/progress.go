package tools

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// notifyInterval is the time between progress notifications. Faster answers send none.
const notifyInterval = 2 * time.Second

// progress is the progress of one tool call.
type progress struct {
	mu    sync.Mutex
	doing string
	rows  int
}

func (p *progress) begin(doing string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing, p.rows = doing, 0
}

func (p *progress) row() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows++
}

func (p *progress) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("%s: %d rows so far", p.doing, p.rows)
}

// notify sends progress notifications to the client until stop is called, provided that
// its request has a progress token. The progress value is elapsed seconds: the total is
// unknown, and a history server may take long to return its first row.
func (p *progress) notify(ctx context.Context, req *mcp.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	answered := make(chan struct{})
	var notifier sync.WaitGroup
	notifier.Go(func() {
		began, ticker := time.Now(), time.NewTicker(notifyInterval)
		defer ticker.Stop()
		for {
			select {
			case <-answered:
				return
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			// This fails only if the client is gone; the call then ends, too.
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: time.Since(began).Seconds(), Message: p.String(),
			})
		}
	})
	return func() {
		close(answered)
		notifier.Wait() // no notification may follow the result
	}
}
