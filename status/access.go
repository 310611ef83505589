package status

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"

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

// requirePassword passes requests of platform.StatusUser with this password on, and
// rejects others.
func requirePassword(password string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(platform.StatusUser + ":" + password))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, given, _ := r.BasicAuth()
		got := sha256.Sum256([]byte(user + ":" + given)) // so that lengths are equal
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Basic realm=%q, charset="UTF-8"`, platform.Name))
			http.Error(w, fmt.Sprintf("log in as %s with the password of the stack output statusPassword", platform.StatusUser),
				http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
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
