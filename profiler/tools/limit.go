package tools

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// mostClients is how many clients are told apart. More are none that people have, and share one
// limit.
const mostClients = 1024

// clients are the limits of clients, by their addresses.
type clients struct {
	mu     sync.Mutex
	known  map[string]*rate.Limiter
	others *rate.Limiter
}

func newClients() *clients {
	return &clients{known: map[string]*rate.Limiter{}, others: rate.NewLimiter(RequestsPerSecond, requestsBurst)}
}

// allow reports whether a client may send a request now.
func (c *clients) allow(client string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	limiter := c.known[client]
	if limiter == nil && len(c.known) >= mostClients {
		c.forget(now)
	}
	switch {
	case limiter != nil:
	case len(c.known) < mostClients:
		limiter = rate.NewLimiter(RequestsPerSecond, requestsBurst)
		c.known[client] = limiter
	default:
		limiter = c.others
	}
	return limiter.AllowN(now, 1)
}

// forget removes the clients that have sent nothing for as long as it takes to fill their limit.
func (c *clients) forget(now time.Time) {
	for client, limiter := range c.known {
		if limiter.TokensAt(now) >= requestsBurst {
			delete(c.known, client)
		}
	}
}

// limitClients refuses requests of a client that sends too many.
func limitClients(next http.Handler) http.Handler {
	all := newClients()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !all.allow(clientOf(r), time.Now()) {
			tooMany(w, fmt.Sprintf("more than %d requests a second", RequestsPerSecond))
			return
		}
		next.ServeHTTP(w, r)
	})
}
