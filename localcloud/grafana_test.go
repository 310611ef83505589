package localcloud

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/localcloud/operator"
	"github.com/emr-observatory/emr-observatory/platform"
)

// accessSecret returns the content of a Secret with a certificate for an address, which
// has signed itself.
func accessSecret(t *testing.T, address, password string) map[string][]byte {
	t.Helper()
	own := issuer.SelfSigned(t, x509.Certificate{IPAddresses: []net.IP{net.ParseIP(address)}})
	return map[string][]byte{
		platform.AccessCertificate: []byte(own.Server),
		platform.AccessKey:         []byte(own.Key),
		platform.AccessPassword:    []byte(password),
	}
}

// The Grafana provider finds what the Secret says now: certificate and password.
func TestGrafanaStandInHasTheProgramsAccess(t *testing.T) {
	first := accessSecret(t, "203.0.113.7", "first")
	secret, missing := first, error(nil)
	access := func() (map[string][]byte, error) { return secret, missing }
	server := httptest.NewUnstartedServer(grafanaAPI(access))
	server.Listener = tls.NewListener(server.Listener, grafanaTLS(access))
	server.Start()
	t.Cleanup(server.Close)
	timeout := time.Minute
	connect := func(address, password string, ca map[string][]byte) error {
		c := operator.Connector{Timeout: timeout, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		}}
		return c.Connect(t.Context(), "grafana", map[string]any{
			"url": "https://" + address + ":3000", "auth": "admin:" + password, "caCert": string(ca[platform.AccessCertificate]),
		})
	}
	require.NoError(t, connect("203.0.113.7", "first", first))
	require.ErrorContains(t, connect("203.0.113.7", "", first), "401")
	require.ErrorContains(t, connect("10.0.0.10", "first", first), "not 10.0.0.10")

	secret = accessSecret(t, "203.0.113.7", "second")
	require.ErrorContains(t, connect("203.0.113.7", "second", first), "certificate")
	require.ErrorContains(t, connect("203.0.113.7", "first", secret), "401")
	require.NoError(t, connect("203.0.113.7", "second", secret))

	secret, missing = nil, errors.New("secret observatory/grafana-access not found")
	timeout = time.Second // it is retried
	require.Error(t, connect("203.0.113.7", "second", first))
}
