package localcloud_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud"
)

// A client that trusts the authority's file, and no other, accepts the local cloud's
// servers on 127.0.0.1; the authority stays the same from start to start.
func TestAuthoritySignsForClientsOfTheBundle(t *testing.T) {
	state := t.TempDir()
	require.NoError(t, localcloud.EnsureAuthority(state))
	bundle, err := os.ReadFile(localcloud.AuthorityFile(state))
	require.NoError(t, err)
	require.NoError(t, localcloud.EnsureAuthority(state))
	again, err := os.ReadFile(localcloud.AuthorityFile(state))
	require.NoError(t, err)
	require.Equal(t, bundle, again)
	info, err := os.Stat(filepath.Join(state, "authority-key.pem"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS, err = localcloud.ServerTLS(state)
	require.NoError(t, err)
	server.StartTLS()
	t.Cleanup(server.Close)
	trusted := x509.NewCertPool()
	require.True(t, trusted.AppendCertsFromPEM(bundle))
	get := func(pool *x509.CertPool) error {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
		t.Cleanup(client.CloseIdleConnections)
		response, err := client.Get(server.URL)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
	require.NoError(t, get(trusted))
	require.ErrorContains(t, get(x509.NewCertPool()), "unknown authority")
}
