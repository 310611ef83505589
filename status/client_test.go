package status_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/status"
)

// The workloads have a certificate of a domain, but are addressed by other names. The
// chain, without its root, is what their clients trust.
func TestClientTrustsAChainWithoutItsRoot(t *testing.T) {
	const domain = "observatory.example.com"
	issued := issuer.Issue(t, time.Now().AddDate(1, 0, 0), domain)
	own, err := tls.X509KeyPair([]byte(issued.Chain()), []byte(issued.Key))
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{own}}
	server.StartTLS()
	t.Cleanup(server.Close)

	another := issuer.Issue(t, time.Now().AddDate(1, 0, 0), domain)
	for name, c := range map[string]struct{ trusted, serverName, refusal string }{
		"chain":            {issued.Chain(), domain, ""},
		"server's alone":   {issued.Server, domain, ""},
		"another's chain":  {another.Chain(), domain, "unknown authority"},
		"its own name":     {issued.Chain(), "", "cannot validate certificate for 127.0.0.1"},
		"another's domain": {issued.Chain(), "grafana.example.com", "not grafana.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := status.NewClient([]byte(c.trusted), c.serverName)
			require.NoError(t, err)
			response, err := client.Get(server.URL)
			if c.refusal != "" {
				require.ErrorContains(t, err, c.refusal)
				return
			}
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
		})
	}
}
