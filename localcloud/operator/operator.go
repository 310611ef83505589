// Package operator connects to the control node as the engine's providers do on AWS:
// to the address that the program gives them, with its certificates and its
// credentials. It needs no more of a server than that it answers who it knows; what
// providers then do, the local cloud's handlers do.
package operator

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/emr-observatory/emr-observatory/internal/poll"
)

// Connector connects for providers.
type Connector struct {
	// Dial connects from where the program runs.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Timeout bounds all attempts together; a server that has just been restarted
	// does not listen yet.
	Timeout time.Duration
}

// requestTimeout bounds an attempt.
const requestTimeout = 10 * time.Second

// Connect connects to the server that a package's provider is configured for; it
// does nothing for packages without one.
func (c Connector) Connect(ctx context.Context, pkg string, arguments map[string]any) error {
	text := func(key string) string { v, _ := arguments[key].(string); return v }
	var url string
	var err error
	switch pkg {
	case "kubernetes":
		url, err = c.kubernetes(ctx, text("kubeconfig"))
	case "grafana":
		url, err = c.grafana(ctx, text("url"), text("auth"), text("caCert"))
	}
	if err != nil {
		return fmt.Errorf("%s provider: connect to %s: %w", pkg, url, err)
	}
	return nil
}

// kubernetes asks a cluster whether it is ready, as its administrator, and returns
// the cluster's URL.
func (c Connector) kubernetes(ctx context.Context, kubeconfig string) (string, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(kubeconfig))
	if err != nil {
		return "the cluster of its kubeconfig", err
	}
	secure, err := rest.TLSConfigFor(config)
	if err != nil {
		return config.Host, err
	}
	return config.Host, c.get(ctx, secure, config.Host+"/readyz", func(*http.Request) {})
}

// grafana asks for the organization, which needs a login, and returns the server's URL.
func (c Connector) grafana(ctx context.Context, url, auth, caCertificate string) (string, error) {
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM([]byte(caCertificate)) {
		return url, errors.New("caCert is not PEM")
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trusted}
	return url, c.get(ctx, secure, strings.TrimSuffix(url, "/")+"/api/org", func(r *http.Request) {
		user, password, _ := strings.Cut(auth, ":")
		r.SetBasicAuth(user, password)
	})
}

// get requests a URL until it answers, or answers that it never will.
func (c Connector) get(ctx context.Context, secure *tls.Config, url string, change func(*http.Request)) error {
	// A connection that was kept could outlive the rule that admitted it.
	client := http.Client{Timeout: requestTimeout, Transport: &http.Transport{
		DialContext: c.Dial, TLSClientConfig: secure, DisableKeepAlives: true,
	}}
	err := poll.Until(ctx, poll.Options{Interval: 200 * time.Millisecond, Timeout: c.Timeout}, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return poll.Permanent(err)
		}
		change(request)
		response, err := client.Do(request)
		var untrusted *tls.CertificateVerificationError
		if errors.As(err, &untrusted) {
			return poll.Permanent(err)
		}
		if err != nil {
			return err
		}
		if err := response.Body.Close(); err != nil {
			return err
		}
		switch response.StatusCode {
		case http.StatusOK:
			return nil
		case http.StatusUnauthorized, http.StatusForbidden:
			return poll.Permanent(fmt.Errorf("it rejects the login: %s", response.Status))
		default:
			return fmt.Errorf("it answers %s", response.Status)
		}
	})
	if err != nil {
		return fmt.Errorf("not ready %w", err)
	}
	return nil
}
