// Package issuer issues certificates for tests: as a public CA does, for a server by an
// intermediate, and such as sign themselves. It is for tests only.
package issuer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Certificate is a server's certificate, all PEM.
type Certificate struct {
	Server, Intermediate string // Intermediate is "" if the certificate signs itself
	Key                  string // PKCS #8
}

// Chain is what a server sends.
func (c Certificate) Chain() string { return c.Server + c.Intermediate }

// Issue issues a certificate for these names that is valid since two hours ago.
func Issue(t testing.TB, until time.Time, names ...string) Certificate {
	t.Helper()
	ca := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test intermediate"}, NotBefore: time.Now().Add(-2 * time.Hour),
		NotAfter: time.Now().AddDate(5, 0, 0), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	server := x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "test server"}, NotBefore: ca.NotBefore, NotAfter: until,
		DNSNames: names, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	rootKey, caKey, key := newKey(t), newKey(t), newKey(t)
	root := x509.Certificate{Subject: pkix.Name{CommonName: "test root"}}
	return Certificate{
		Server: sign(t, server, ca, key, caKey), Intermediate: sign(t, ca, root, caKey, rootKey), Key: encodeKey(t, key),
	}
}

// SelfSigned issues a certificate that signs itself and is valid for an hour. template
// says what for.
func SelfSigned(t testing.TB, template x509.Certificate) Certificate {
	t.Helper()
	template.SerialNumber = big.NewInt(1)
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	key := newKey(t)
	return Certificate{Server: sign(t, template, template, key, key), Key: encodeKey(t, key)}
}

func encodeKey(t testing.TB, key *ecdsa.PrivateKey) string {
	t.Helper()
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return block("PRIVATE KEY", encoded)
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

// sign returns a certificate for key, signed by its issuer's key.
func sign(t testing.TB, certificate, issuer x509.Certificate, key, issuerKey *ecdsa.PrivateKey) string {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, &certificate, &issuer, key.Public(), issuerKey)
	require.NoError(t, err)
	return block("CERTIFICATE", der)
}

func block(kind string, content []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}))
}
