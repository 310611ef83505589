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

// Agent carries out what the region asks of a machine.
type Agent struct {
	spec     Spec
	mu       sync.Mutex
	units    map[string]*service
	forwards map[int]net.Listener
}

// NewAgent makes the agent of a machine whose root the caller has entered.
func NewAgent(s Spec) *Agent {
	return &Agent{spec: s, units: map[string]*service{}, forwards: map[int]net.Listener{}}
}

// Forward is a TCP port of the machine that leads to another address.
type Forward struct {
	Port int
	To   string // host:port; empty ends the forward
}

// Handler is the agent's HTTP face; Client is its counterpart.
func (a *Agent) Handler() http.Handler {
	mux := http.NewServeMux()
	handle(mux, "/exec", a.Run)
	handle(mux, "/units/start", func(ctx context.Context, u UnitStart) (struct{}, error) { return struct{}{}, a.startUnit(ctx, u) })
	handle(mux, "/units/stop", func(ctx context.Context, n string) (struct{}, error) { return struct{}{}, a.StopUnit(ctx, n) })
	handle(mux, "/units", func(context.Context, struct{}) ([]Unit, error) { return a.Units(), nil })
	handle(mux, "/forward", func(_ context.Context, f Forward) (struct{}, error) { return struct{}{}, a.forward(f) })
	return mux
}

// handle serves one call: a JSON request in, a JSON answer or an error text out.
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

func (a *Agent) forward(f Forward) error {
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

// Relay passes each connection of l on to what dial gives, until l is closed.
func Relay(l net.Listener, dial func(context.Context) (net.Conn, error)) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer in.Close()
			out, err := dial(context.Background())
			if err != nil {
				return
			}
			defer out.Close()
			done := make(chan struct{}, 2)
			pass := func(dst, src net.Conn) {
				_, _ = io.Copy(dst, src)
				if c, ok := dst.(interface{ CloseWrite() error }); ok {
					_ = c.CloseWrite()
				}
				done <- struct{}{}
			}
			go pass(out, in)
			go pass(in, out)
			<-done
			<-done
		}()
	}
}
