package localcloud

import (
	"crypto/subtle"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"

	"github.com/emr-observatory/emr-observatory/platform"
)

// serveGrafana serves what stands in for a Grafana server that is not installed on this
// machine: the program's certificate, and one page that requires the administrator's
// password. It holds no dashboards. The Grafana provider connects to it through the
// control node's port, as to a Grafana there.
func (c *cloud) serveGrafana() error {
	if c.Grafana.Installed() {
		return nil
	}
	l, err := net.Listen("tcp", serviceAddress(platform.Grafana))
	if err != nil {
		return fmt.Errorf("stand in for Grafana: %w", err)
	}
	go c.serve(tls.NewListener(l, grafanaTLS(c.grafanaAccess)), grafanaAPI(c.grafanaAccess))
	return nil
}

// grafanaAccess returns the Secret with Grafana's certificate and password. It is read
// for each connection and request: an update of the stack may replace both.
func (c *cloud) grafanaAccess() (map[string][]byte, error) {
	secret, err := c.kube.Secret(platform.Name, platform.AccessSecret(platform.WorkloadGrafana))
	if err != nil {
		return nil, fmt.Errorf("read the access to Grafana: %w", err)
	}
	return secret, nil
}

func grafanaTLS(access func() (map[string][]byte, error)) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		secret, err := access()
		if err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(secret[platform.AccessCertificate], secret[platform.AccessKey])
		if err != nil {
			return nil, fmt.Errorf("load the certificate of Grafana: %w", err)
		}
		return &pair, nil
	}}
}

// grafanaAPI answers who the organization is, as Grafana does
// (HTTP API reference, "Get current Organization").
func grafanaAPI(access func() (map[string][]byte, error)) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/org", func(w http.ResponseWriter, r *http.Request) {
		secret, err := access()
		user, password, _ := r.BasicAuth()
		expected := secret[platform.AccessPassword]
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		case user != platform.GrafanaUser || len(expected) == 0 || subtle.ConstantTimeCompare([]byte(password), expected) != 1:
			http.Error(w, "Invalid username or password", http.StatusUnauthorized)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"id": 1, "name": "Main Org."})
		}
	})
	return mux
}
