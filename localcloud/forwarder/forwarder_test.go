package forwarder_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/forwarder"
)

// startServer starts a server with TLS and a password, and returns the options that
// reach it.
func startServer(t *testing.T) (forwarder.Options, *forwarder.Access) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if user != "observatory" || password != "correct-horse" {
			http.Error(w, "log in", http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, r.Method+" "+r.URL.RequestURI()+" accepts "+r.Header.Get("Accept")+", has "+r.Header.Get("Services"))
	}))
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	access := &forwarder.Access{
		Address: server.Listener.Addr().String(), CACertificate: ca, User: "observatory", Password: "correct-horse",
	}
	return forwarder.Options{
		Name: "status", Log: slog.New(slog.DiscardHandler),
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		},
		Access: func() (forwarder.Access, error) { return *access, nil },
		Header: func() http.Header { return http.Header{"Services": {"tempo"}} },
	}, access
}

// fetch requests a path through a forwarder, as a browser does: over plain HTTP and
// with the credentials given in the address, if any.
func fetch(t *testing.T, o forwarder.Options, credentials string) (int, string) {
	t.Helper()
	front := httptest.NewServer(forwarder.New(o))
	t.Cleanup(front.Close)
	address := "http://" + credentials + front.Listener.Addr().String() + "/status?section=nodes"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	request.Header.Set("Accept", "text/html")
	request.Header.Set("Services", "the client's own")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(body)
}

func TestForwarderSuppliesTrustAndPassword(t *testing.T) {
	o, access := startServer(t)
	status, body := fetch(t, o, "")
	require.Equal(t, http.StatusOK, status, body)
	require.Equal(t, "GET /status?section=nodes accepts text/html, has tempo", body)

	access.ServerName = "example.com" // httptest's certificate names it, too
	status, body = fetch(t, o, "")
	require.Equal(t, http.StatusOK, status, body)

	access.Password = "stale"
	status, _ = fetch(t, o, "")
	require.Equal(t, http.StatusUnauthorized, status, "the server decides")
	access.Password = "correct-horse"
	status, _ = fetch(t, o, "someone:else@")
	require.Equal(t, http.StatusOK, status, "a browser's own credentials are replaced")
}

// A server that another authority has signed, or that has another address, gets
// neither the request nor the password.
func TestForwarderVerifiesTheServer(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*forwarder.Options, *forwarder.Access)
		want  string
	}{
		"another authority": {func(_ *forwarder.Options, a *forwarder.Access) { a.CACertificate = otherAuthority(t) },
			"certificate signed by unknown authority"},
		"another address": {func(_ *forwarder.Options, a *forwarder.Access) { a.Address = "203.0.113.7:8080" }, "not 203.0.113.7"},
		"another name": {func(_ *forwarder.Options, a *forwarder.Access) { a.ServerName = "observatory.example.net" },
			"not observatory.example.net"},
		"no address": {func(_ *forwarder.Options, a *forwarder.Access) { a.Address = "203.0.113.7" }, "missing port"},
		"no authority": {func(_ *forwarder.Options, a *forwarder.Access) { a.CACertificate = nil },
			"its authority's certificate is not PEM"},
		"no Secret": {func(o *forwarder.Options, _ *forwarder.Access) {
			o.Access = func() (forwarder.Access, error) {
				return forwarder.Access{}, errors.New("secret status-access not found")
			}
		}, "secret status-access not found"},
		"no server": {func(o *forwarder.Options, _ *forwarder.Access) {
			o.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("status does not run") }
		}, "status does not run"},
	} {
		t.Run(name, func(t *testing.T) {
			o, access := startServer(t)
			test.spoil(&o, access)
			status, body := fetch(t, o, "")
			require.Equal(t, http.StatusBadGateway, status)
			require.Contains(t, body, o.Name+" does not answer: ")
			require.Contains(t, body, test.want)
		})
	}
}
