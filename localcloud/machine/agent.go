package machine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// Agent executes the region's requests in a machine.
type Agent struct {
	spec     Spec
	mu       sync.Mutex
	units    map[string]*service
	forwards map[int]net.Listener
}

// NewAgent returns the agent of a machine. The caller's root must be the machine's.
func NewAgent(s Spec) *Agent {
	return &Agent{spec: s, units: map[string]*service{}, forwards: map[int]net.Listener{}}
}

// Forward forwards a TCP port of the machine to another address.
type Forward struct {
	Port int
	To   string // host:port; empty closes the port
}

// Handler serves the agent's HTTP API; Client is its client.
func (a *Agent) Handler() http.Handler {
	mux := http.NewServeMux()
	handle(mux, "/exec", a.Run)
	handle(mux, "/units", func(context.Context, struct{}) ([]Unit, error) { return a.Units(), nil })
	handle(mux, "/units/start", withoutResult(a.startUnit))
	handle(mux, "/units/stop", withoutResult(a.StopUnit))
	handle(mux, "/forward", withoutResult(a.forward))
	return mux
}

// withoutResult turns a function without a result into one for handle.
func withoutResult[In any](do func(context.Context, In) error) func(context.Context, In) (struct{}, error) {
	return func(ctx context.Context, in In) (struct{}, error) { return struct{}{}, do(ctx, in) }
}

// handle serves a function at a path: the request is its argument as JSON, the
// response its result as JSON or the error's text.
func handle[In, Out any](mux *http.ServeMux, path string, call func(context.Context, In) (Out, error)) {
	mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		var in In
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out, err := call(r.Context(), in)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		_ = json.NewEncoder(w).Encode(out)
	})
}

// forward opens or closes a forwarded port.
func (a *Agent) forward(_ context.Context, f Forward) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if old := a.forwards[f.Port]; old != nil {
		old.Close()
		delete(a.forwards, f.Port)
	}
	if f.To == "" {
		return nil
	}
	l, err := net.Listen("tcp", fmt.Sprintf(":%d", f.Port))
	if err != nil {
		return fmt.Errorf("forward port %d of %s: %w", f.Port, a.spec.Name, err)
	}
	a.forwards[f.Port] = l
	go Relay(l, func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", f.To)
	})
	return nil
}

// Relay forwards each connection of l to the one that dial opens, until l is
// closed.
func Relay(l net.Listener, dial func(context.Context) (net.Conn, error)) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		go relayConn(in, dial)
	}
}

// relayConn copies both directions between in and the connection that dial opens.
func relayConn(in net.Conn, dial func(context.Context) (net.Conn, error)) {
	defer in.Close()
	out, err := dial(context.Background())
	if err != nil {
		return
	}
	defer out.Close()
	var both sync.WaitGroup
	both.Go(func() { forwardBytes(out, in) })
	both.Go(func() { forwardBytes(in, out) })
	both.Wait()
}

// forwardBytes copies until src ends, then closes the writing side of dst.
func forwardBytes(dst, src net.Conn) {
	_, _ = io.Copy(dst, src)
	if c, ok := dst.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
}
