package status

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

// NewClient returns a client that trusts the certificates of one CA (PEM),
// or of this machine's if it is empty. A server name that is not empty is expected in
// every certificate, whatever the host of the URL.
func NewClient(caCertificate []byte, serverName string) (*http.Client, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: serverName}
	if len(caCertificate) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(caCertificate) {
			return nil, errors.New("CA certificate: holds no certificate in PEM form; take it from the stack output caCertificate")
		}
	}
	transport := http.Transport{TLSClientConfig: config, Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	return &http.Client{Transport: &transport}, nil
}

// explain adds the remedy to the error of a request that TLS or the server's
// password has stopped.
func explain(err error) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var refused *refusal
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("%w; trust the CA of the stack output caCertificate: --ca-certificate FILE", err)
	case errors.As(err, &name):
		return fmt.Errorf("%w; use the address of the stack output statusUrl, or localhost through a tunnel", err)
	case errors.As(err, &refused) && refused.status == http.StatusUnauthorized:
		return fmt.Errorf("%w: --password-file FILE or OBSERVATORY_STATUS_PASSWORD", err)
	}
	return err
}

const (
	requestTimeout = 3 * time.Second // all workloads are on the same machine
	reasonSize     = 200             // maximum bytes of a response body in an error

	// fetchTimeout is for a whole status: probes run concurrently; three queries for
	// nodes, the requests for steps, and three queries for their applications and phases
	// run one after another.
	fetchTimeout = 7 * requestTimeout
)

// probe checks whether a workload is ready.
func (s Source) probe(ctx context.Context, name platform.Workload, endpoint Endpoint) Workload {
	body, err := get(ctx, s.Client, requestTimeout, endpoint.ReadyURL)
	if err == nil {
		_ = body.Close() // only the status counts
		return Workload{Name: name, Ready: true}
	}
	return Workload{Name: name, Reason: err.Error()}
}

// get fetches a URL, with edit's changes of the request. A status other than 2xx is
// an error with the first line of the body. The caller closes the body.
func get(
	ctx context.Context, client *http.Client, timeout time.Duration, url string, edit ...func(*http.Request),
) (io.ReadCloser, error) {
	return request(ctx, client, timeout, http.MethodGet, url, http.NoBody, edit...)
}

// request does what get does, with any method and body.
func request(
	ctx context.Context, client *http.Client, timeout time.Duration, method, url string, body io.Reader, edit ...func(*http.Request),
) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	request, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("%s %s: %w", method, url, err)
	}
	for _, change := range edit {
		change(request)
	}
	response, err := client.Do(request)
	if err != nil {
		cancel()
		return nil, err // it names the method and the URL
	}
	if response.StatusCode/100 == 2 {
		return bodyWithTimeout{response.Body, cancel}, nil
	}
	defer cancel()
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, reasonSize)) // the status is reported either way
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return nil, &refusal{method, url, response.StatusCode, line}
}

// Temporary reports whether an error of a Fetch function may not recur on a retry: the
// status page could not read one of its stores.
func Temporary(err error) bool {
	var refused *refusal
	return errors.As(err, &refused) && refused.status/100 == 5
}

// refusal is a response with a status other than 2xx.
type refusal struct {
	method string
	url    string
	status int
	reason string // first line of the body
}

// Error names the URL, the status and the reason.
func (r *refusal) Error() string {
	return fmt.Sprintf("%s %s: %d %s: %s", r.method, r.url, r.status, http.StatusText(r.status), r.reason)
}

// bodyWithTimeout is a response body that ends its request's timeout when it is
// closed.
type bodyWithTimeout struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close closes the body.
func (b bodyWithTimeout) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
