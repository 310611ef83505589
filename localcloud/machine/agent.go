package machine

import (
	"context"
	"encoding/json"
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

// Handler serves the agent's HTTP API; Client is its client.
func (a *Agent) Handler() http.Handler {
	mux := http.NewServeMux()
	handle(mux, "/exec", a.Run)
	handle(mux, "/units", func(context.Context, struct{}) ([]Unit, error) { return a.Units(), nil })
	handle(mux, "/units/start", withoutResult(a.startUnit))
	handle(mux, "/units/stop", withoutResult(a.StopUnit))
	handle(mux, "/forward", withoutResult(a.forward))
	handle(mux, "/reply-through", withoutResult(a.replyThrough))
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

// Relay forwards each connection of l to the one that dial opens, until l is
// closed.
func Relay(l net.Listener, dial func(context.Context) (net.Conn, error)) {
	relayFrom(l, func(ctx context.Context, _ net.Conn) (net.Conn, error) { return dial(ctx) })
}

// relayFrom is Relay with a dial that is given the client's connection.
func relayFrom(l net.Listener, dial func(ctx context.Context, client net.Conn) (net.Conn, error)) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		go relayConn(in, dial)
	}
}

// relayConn copies both directions between in and the connection that dial opens.
func relayConn(in net.Conn, dial func(ctx context.Context, client net.Conn) (net.Conn, error)) {
	defer in.Close()
	out, err := dial(context.Background(), in)
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
