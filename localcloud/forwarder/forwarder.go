// Package forwarder makes a server that requires TLS and a password available on
// the host's 127.0.0.1 without either. It supplies what a person on AWS has to give
// a browser: the server's address, trust in the program's CA, and the password. It
// verifies the server's certificate as that browser would.
package forwarder

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// handshakeTimeout bounds a connection to the server.
const handshakeTimeout = 5 * time.Second

// Access is what the server's clients need.
type Access struct {
	Address        string // host:port; its certificate names the host
	CACertificate  []byte // PEM
	ServerName     string // in its certificate; "" = the host of Address
	User, Password string
}

// Options describe a server.
type Options struct {
	Name string // in messages
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Access is read for each connection and each request: an update of the stack
	// may replace address, certificate and password.
	Access func() (Access, error)
	// Header is added to each request and replaces the client's; nil: nothing is added.
	Header func() http.Header
	Log    *slog.Logger
}

// New returns a handler that forwards requests to the server.
func New(o Options) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			host := o.Name
			if access, err := o.Access(); err == nil { // otherwise the dial reports it
				host = access.Address
				r.Out.SetBasicAuth(access.User, access.Password)
			}
			r.SetURL(&url.URL{Scheme: "https", Host: host})
			if o.Header != nil {
				maps.Copy(r.Out.Header, o.Header())
			}
		},
		Transport: o.Transport(),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			o.Log.Warn("forward request", "server", o.Name, "path", r.URL.Path, "error", err)
			http.Error(w, fmt.Sprintf("%s does not answer: %v", o.Name, err), http.StatusBadGateway)
		},
	}
}

// Transport returns a transport that connects to the server, whatever a request's host is.
func (o Options) Transport() *http.Transport {
	return &http.Transport{DialTLSContext: o.dial, IdleConnTimeout: time.Minute}
}

// dial connects to the server and verifies its certificate. The transport's address
// is ignored: Access may have failed when it was made.
func (o Options) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	access, err := o.Access()
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(access.CACertificate) {
		return nil, errors.New("its authority's certificate is not PEM")
	}
	host, _, err := net.SplitHostPort(access.Address)
	if err != nil {
		return nil, err
	}
	conn, err := o.Dial(ctx, "tcp", access.Address)
	if err != nil {
		return nil, err
	}
	secure := tls.Client(conn, &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trusted, ServerName: cmp.Or(access.ServerName, host)})
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secure, nil
}
