package tools

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/emr-observatory/emr-observatory/internal/basicauth"
	"github.com/emr-observatory/emr-observatory/platform"
)

// HTTP are the settings of a server over HTTP.
type HTTP struct {
	Token            string    // that every request must have, as a bearer token
	Certificate, Key string    // PEM files; both "" for plain HTTP, which only a loopback address may have
	Audit            io.Writer // one JSON object per line for each call
}

// RequestsPerSecond is how many requests a client may send, by its address.
const RequestsPerSecond = 20

// Bounds of what clients may ask for. A call has the tables of at most MostApplications applications,
// of which all calls together hold tablesAtOnce.
const (
	requestBytes    = 64 << 10
	headerBytes     = 16 << 10
	requestsAtOnce  = 4 // calls that run; the others are told to try again
	requestsBurst   = 40
	headerTimeout   = 5 * time.Second
	requestTimeout  = 30 * time.Second // to read it
	callTimeout     = 2 * time.Minute  // to answer it: a history server sends slowly
	writeTimeout    = callTimeout + requestTimeout
	idleTimeout     = time.Minute
	shutdownTimeout = 5 * time.Second
	retryAfter      = time.Second
)

// ReadToken reads the token of a server over HTTP from a file.
func ReadToken(file string) (string, error) {
	return basicauth.ReadSecret(file, "a random token")
}

// Validate checks the settings for an address to listen on, and reports all faults at once.
func (o HTTP) Validate(address string) error {
	var faults []error
	host, _, err := net.SplitHostPort(address)
	ip, _ := netip.ParseAddr(host) // a name is no loopback address
	switch {
	case err != nil:
		faults = append(faults, fmt.Errorf("address %q: must be HOST:PORT: %w", address, err))
	case o.Certificate == "" && !ip.IsLoopback():
		faults = append(faults, fmt.Errorf("address %q: without a certificate it must be a loopback address, such as %s:8443; the token would "+
			"travel in clear", address, platform.Loopback))
	}
	if (o.Certificate == "") != (o.Key == "") {
		faults = append(faults, errors.New("certificate and key: give both, or none"))
	}
	if len(o.Token) < basicauth.MinBytes {
		faults = append(faults, fmt.Errorf("token: %d bytes: must have %d or more", len(o.Token), basicauth.MinBytes))
	}
	return errors.Join(faults...)
}

// ServeHTTP serves the tools at platform.ToolsPath of an address, by the protocol's streamable HTTP without
// sessions, until ctx is done. ready is called with the address once it listens.
func ServeHTTP(ctx context.Context, rows Rows, address string, o HTTP, log io.Writer, ready func(net.Addr)) error {
	if err := o.Validate(address); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("serve the tools at %s: %w", address, err)
	}
	server := &http.Server{
		Handler: Handler(rows, o, log), ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes, TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		stopped <- server.Shutdown(limited)
	}()
	ready(listener.Addr())
	if o.Certificate == "" {
		err = server.Serve(listener)
	} else {
		err = server.ServeTLS(listener, o.Certificate, o.Key)
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the tools at %s: %w", address, err)
	}
	if err := <-stopped; err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("serve the tools at %s: %w", address, err)
	}
	return nil
}

// Handler returns the server's handler. It refuses, in this order, requests of other websites' pages,
// those of a client that sends too many, and those without the token.
func Handler(rows Rows, o HTTP, log io.Writer) http.Handler {
	server := newServer(rows, log, time.Now)
	server.AddReceivingMiddleware(audited(o.Audit, server.arguments, time.Now))
	tools := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server.Server }, &mcp.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: requestBytes,
		DisableLocalhostProtection: true, // a tunnel's end is one, and every request has the token
	})
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+platform.HealthPath, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.Handle(platform.ToolsPath, http.NewCrossOriginProtection().Handler(limitClients(authorize(o.Token, atOnce(withClient(tools))))))
	return mux
}

// clientHeader has the address of the client, for the audit log. What a client sends in it is
// replaced.
const clientHeader = "X-Observatory-Client"

// clientOf is the address of the client of a request. The server's pod sees its clients' own.
func clientOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// withClient passes the address of the client on to the audit log, and bounds the time of its call.
func withClient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), callTimeout)
		defer cancel()
		r = r.Clone(ctx)
		r.Header.Set(clientHeader, clientOf(r))
		next.ServeHTTP(w, r)
	})
}

// authorize passes requests with the bearer token on.
func authorize(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(given)) // so that lengths are equal
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer realm=%q", platform.Name))
			http.Error(w, "send the header Authorization: Bearer TOKEN, with the server's token", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// atOnce bounds the requests that are answered at a time.
func atOnce(next http.Handler) http.Handler {
	places := make(chan struct{}, requestsAtOnce)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
			next.ServeHTTP(w, r)
		default:
			tooMany(w, fmt.Sprintf("%d requests are being answered", requestsAtOnce))
		}
	})
}

func tooMany(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	http.Error(w, why+": try again in a second", http.StatusTooManyRequests)
}
