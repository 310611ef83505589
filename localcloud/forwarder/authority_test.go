package forwarder_test

import (
	"crypto/x509"
	"testing"

	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
)

// otherAuthority returns the certificate of a CA that has signed nothing.
func otherAuthority(t *testing.T) []byte {
	t.Helper()
	return []byte(issuer.SelfSigned(t, x509.Certificate{IsCA: true, BasicConstraintsValid: true}).Server)
}
