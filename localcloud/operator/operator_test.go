package operator_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/localcloud/operator"
)

// pair is a certificate with its key, PEM.
type pair struct{ certificate, key []byte }

// newPair creates a certificate that signs itself.
func newPair(t *testing.T) pair {
	t.Helper()
	own := issuer.SelfSigned(t, x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return pair{[]byte(own.Server), []byte(own.Key)}
}

// server is a stand-in for the control node; its certificate names 127.0.0.1 and
// example.com.
type server struct {
	*httptest.Server
	requests atomic.Int32
	starting atomic.Int32 // requests to which it answers that it still starts
	ca       []byte
	admin    pair
}

// newServer answers /readyz to the administrator's certificate, and /api/org to the
// administrator's password.
func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{admin: newPair(t)}
	clients := x509.NewCertPool()
	require.True(t, clients.AppendCertsFromPEM(s.admin.certificate))
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		user, password, _ := r.BasicAuth()
		switch {
		case s.starting.Add(-1) >= 0:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/readyz" && len(r.TLS.PeerCertificates) > 0:
		case r.URL.Path == "/api/org" && user == "admin" && password == "p:w":
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12, ClientCAs: clients, ClientAuth: tls.VerifyClientCertIfGiven}
	s.StartTLS()
	t.Cleanup(s.Close)
	s.ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return s
}

func (s *server) kubeconfig(t *testing.T, url string, ca []byte, user pair) map[string]any {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: url, CertificateAuthorityData: ca}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{ClientCertificateData: user.certificate, ClientKeyData: user.key}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	text, err := clientcmd.Write(*config)
	require.NoError(t, err)
	return map[string]any{"kubeconfig": string(text)}
}

func (s *server) grafana(url string, auth string, ca []byte) map[string]any {
	return map[string]any{"url": url, "auth": auth, "caCert": string(ca)}
}

// connector leads every address to the server, and counts what is dialled.
func (s *server) connector(dialled *[]string) operator.Connector {
	return operator.Connector{Timeout: time.Minute, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		*dialled = append(*dialled, address)
		return new(net.Dialer).DialContext(ctx, network, s.Listener.Addr().String())
	}}
}

// Providers connect to the address that the program names, with its certificates.
func TestProvidersConnectAsOnAWS(t *testing.T) {
	s := newServer(t)
	other := newPair(t)
	for name, c := range map[string]struct {
		pkg       string
		arguments map[string]any
		dialled   []string
		want      string
	}{
		"kubernetes": {"kubernetes", s.kubeconfig(t, "https://127.0.0.1:6443", s.ca, s.admin), []string{"127.0.0.1:6443"}, ""},
		"kubernetes, an address that the certificate lacks": {
			"kubernetes", s.kubeconfig(t, "https://203.0.113.7:6443", s.ca, s.admin), []string{"203.0.113.7:6443"},
			"kubernetes provider: connect to https://203.0.113.7:6443: not ready ",
		},
		"kubernetes, another CA": {
			"kubernetes", s.kubeconfig(t, "https://127.0.0.1:6443", other.certificate, s.admin), []string{"127.0.0.1:6443"}, "unknown authority",
		},
		"kubernetes, a path": {"kubernetes", map[string]any{"kubeconfig": "/root/.kube/config"}, nil, "the cluster of its kubeconfig"},
		"grafana":            {"grafana", s.grafana("https://127.0.0.1:3000", "admin:p:w", s.ca), []string{"127.0.0.1:3000"}, ""},
		"grafana, an address that the certificate lacks": {
			"grafana", s.grafana("https://203.0.113.7:3000", "admin:p:w", s.ca), []string{"203.0.113.7:3000"}, "203.0.113.7",
		},
		"grafana, another password": {
			"grafana", s.grafana("https://127.0.0.1:3000", "admin:guess", s.ca), []string{"127.0.0.1:3000"}, "it rejects the login: 401",
		},
		"grafana, no CA": {"grafana", s.grafana("https://127.0.0.1:3000", "admin:p:w", nil), nil, "caCert is not PEM"},
		"aws":            {"aws", map[string]any{"region": "us-east-1"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var dialled []string
			err := s.connector(&dialled).Connect(t.Context(), c.pkg, c.arguments)
			require.Equal(t, c.dialled, dialled, "%v", err)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestConnectWaitsForAServerThatStarts(t *testing.T) {
	s := newServer(t)
	s.starting.Store(2)
	var dialled []string
	c := s.connector(&dialled)
	require.NoError(t, c.Connect(t.Context(), "kubernetes", s.kubeconfig(t, s.URL, s.ca, s.admin)))
	require.EqualValues(t, 3, s.requests.Load())
	require.Len(t, dialled, 3, "each attempt is a connection of its own")

	c.Timeout = 300 * time.Millisecond
	c.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("nobody answers") }
	err := c.Connect(t.Context(), "grafana", s.grafana("https://203.0.113.7:3000", "admin:p:w", s.ca))
	require.ErrorContains(t, err, "connect to https://203.0.113.7:3000: not ready within 300ms")
	require.ErrorContains(t, err, "nobody answers")
}
