package tools

import (
	"context"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// SetNow replaces the clock of FromSource's rows.
func SetNow(rows Rows, now func() time.Time) { rows.(*inSource).now = now }

// NewAt is New at another time.
func NewAt(rows Rows, log io.Writer, now time.Time) *mcp.Server {
	return newServer(rows, log, func() time.Time { return now }).Server
}

// RelayTo is Relay over another transport.
func RelayTo(ctx context.Context, r Remote, to mcp.Transport, log io.Writer) error {
	return relay(ctx, r, to, log)
}

// AllowsRequest returns a function that reports whether a client may send a request at a time.
func AllowsRequest() func(client string, now time.Time) bool { return newClients().allow }

// Limits of a client's requests, and of clients.
const (
	RequestsBurst = requestsBurst
	MostClients   = mostClients
)
