package tools

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// telling is how often a client is told how far an answer has come. Quick answers come
// without.
const telling = 2 * time.Second

// progress is how far an answer has come.
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

// tell tells the client that made a request how far its answer has come, until stop is
// called; none is told that gave no token for it. What is counted up is the time: how much
// there is to read is not known, and a history server may take long before it gives a row.
func (p *progress) tell(ctx context.Context, req *mcp.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	answered := make(chan struct{})
	var teller sync.WaitGroup
	teller.Go(func() {
		began, ticker := time.Now(), time.NewTicker(telling)
		defer ticker.Stop()
		for {
			select {
			case <-answered:
				return
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			// It fails only if the client has gone, which ends the answer, too.
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: time.Since(began).Seconds(), Message: p.String(),
			})
		}
	})
	return func() {
		close(answered)
		teller.Wait() // nothing may follow the answer
	}
}

// counted passes rows on and counts them.
type counted struct {
	tables.Sink
	progress *progress
}

func (c counted) Put(row tables.Row) error {
	c.progress.row()
	return c.Sink.Put(row)
}
