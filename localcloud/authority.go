package localcloud

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

// The local cloud's own certificate authority signs what AWS has certificates of public
// authorities for. Its key is kept in the state folder, readable by its owner only.

// AuthorityFile returns the file with the authority's certificate, for AWS_CA_BUNDLE.
func AuthorityFile(state string) string { return filepath.Join(state, "authority.pem") }

func authorityKeyFile(state string) string { return filepath.Join(state, "authority-key.pem") }

// certificateLifetime is that of the authority, and of what it signs at each start.
const certificateLifetime = 10 * 365 * 24 * time.Hour

// ensureAuthority creates the authority of a state folder, if it has none.
func ensureAuthority(state string) error {
	_, err := os.Stat(AuthorityFile(state))
	if err == nil {
		return nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("find the local cloud's authority: %w", err)
	}
	template := newCertificate("emr-observatory local cloud")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign
	certificate, key, err := sign(template, nil, nil)
	if err != nil {
		return fmt.Errorf("create the local cloud's authority: %w", err)
	}
	// The certificate comes last: whoever sees it finds the key.
	if err := os.WriteFile(authorityKeyFile(state), key, 0o600); err != nil {
		return fmt.Errorf("create the local cloud's authority: %w", err)
	}
	if err := os.WriteFile(AuthorityFile(state), certificate, 0o644); err != nil {
		return fmt.Errorf("create the local cloud's authority: %w", err)
	}
	return nil
}

// serverTLS returns the configuration of a server on the host's 127.0.0.1, with a
// certificate that the authority of a state folder signs for it.
func serverTLS(state string) (*tls.Config, error) {
	authority, err := tls.LoadX509KeyPair(AuthorityFile(state), authorityKeyFile(state))
	if err != nil {
		return nil, fmt.Errorf("read the local cloud's authority: %w", err)
	}
	key, ok := authority.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("read the local cloud's authority: its key is a %T, not an ECDSA key; remove %s and %s to create another",
			authority.PrivateKey, AuthorityFile(state), authorityKeyFile(state))
	}
	template := newCertificate("localhost")
	template.DNSNames, template.IPAddresses = []string{"localhost"}, []net.IP{net.ParseIP(platform.Loopback)}
	template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	certificate, privateKey, err := sign(template, authority.Leaf, key)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate of the local cloud: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, privateKey)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate of the local cloud: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}, nil
}

func newCertificate(name string) *x509.Certificate {
	now := time.Now()
	serial := new(big.Int).SetBytes([]byte(rand.Text()[:16]))
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLifetime),
	}
}

// sign returns a certificate and its new key in PEM; signed by itself if authority is nil.
func sign(template, authority *x509.Certificate, authorityKey *ecdsa.PrivateKey) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if authority == nil {
		authority, authorityKey = template, private
	}
	der, err := x509.CreateCertificate(rand.Reader, template, authority, private.Public(), authorityKey)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), nil
}
