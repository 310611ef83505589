package generate

import (
	"crypto"
	"crypto/rand"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"time"
)

func sha1Sum(b []byte) []byte {
	sum := sha1.Sum(b)
	return sum[:]
}

// fingerprint returns the resource id that pulumi-tls derives from DER.
func fingerprint(der []byte) string { return hex.EncodeToString(sha1Sum(der)) }

// keyAndNames reads what a request and a self-signed certificate are made of.
func keyAndNames(in map[string]any) (key crypto.Signer, algorithm string, n alternativeNames, err error) {
	if key, algorithm, err = parseKey(in, "privateKeyPem"); err == nil {
		n, err = subjectAlternativeNames(in)
	}
	return key, algorithm, n, err
}

func certRequest(in map[string]any) (generated, error) {
	key, algorithm, n, err := keyAndNames(in)
	if err != nil {
		return generated{}, err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: subject(in), DNSNames: n.dns, IPAddresses: n.ips, URIs: n.uris,
	}, key)
	if err != nil {
		return generated{}, err
	}
	return generated{id: fingerprint(der), secrets: []string{"privateKeyPem"}, values: map[string]any{
		"certRequestPem": encodePEM("CERTIFICATE REQUEST", der), "keyAlgorithm": algorithm,
	}}, nil
}

func selfSignedCert(in map[string]any) (generated, error) {
	key, algorithm, n, err := keyAndNames(in)
	if err != nil {
		return generated{}, err
	}
	template, err := certificateTemplate(in, key.Public())
	if err != nil {
		return generated{}, err
	}
	template.Subject, template.DNSNames, template.IPAddresses, template.URIs = subject(in), n.dns, n.ips, n.uris
	g, err := sign(template, template, key.Public(), key)
	if err != nil {
		return generated{}, err
	}
	g.values["keyAlgorithm"], g.secrets = algorithm, []string{"privateKeyPem"}
	return g, nil
}

// locallySignedCert signs a certificate request with a CA's key.
func locallySignedCert(in map[string]any) (generated, error) {
	caKey, algorithm, err := parseKey(in, "caPrivateKeyPem")
	if err != nil {
		return generated{}, err
	}
	caBlock, _ := pem.Decode([]byte(text(in, "caCertPem")))
	requestBlock, _ := pem.Decode([]byte(text(in, "certRequestPem")))
	if caBlock == nil || requestBlock == nil {
		return generated{}, errors.New("caCertPem and certRequestPem must be PEM")
	}
	ca, err := x509.ParseCertificate(caBlock.Bytes)
	if err != nil {
		return generated{}, fmt.Errorf("caCertPem: %w", err)
	}
	request, err := x509.ParseCertificateRequest(requestBlock.Bytes)
	if err == nil {
		err = request.CheckSignature()
	}
	if err != nil {
		return generated{}, fmt.Errorf("certRequestPem: %w", err)
	}
	template, err := certificateTemplate(in, request.PublicKey)
	if err != nil {
		return generated{}, err
	}
	template.Subject, template.DNSNames = request.Subject, request.DNSNames
	template.IPAddresses, template.URIs = request.IPAddresses, request.URIs
	g, err := sign(template, ca, request.PublicKey, caKey)
	if err != nil {
		return generated{}, err
	}
	g.values["caKeyAlgorithm"], g.secrets = algorithm, []string{"caPrivateKeyPem"}
	return g, nil
}

// sign creates a certificate with the key of its parent.
func sign(template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) (generated, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return generated{}, err
	}
	return generated{id: template.SerialNumber.String(), values: map[string]any{
		"certPem":           encodePEM("CERTIFICATE", der),
		"validityStartTime": template.NotBefore.Format(time.RFC3339),
		"validityEndTime":   template.NotAfter.Format(time.RFC3339),
		"readyForRenewal":   false,
	}}, nil
}

// certificateTemplate returns what self-signed and locally signed certificates have in
// common.
func certificateTemplate(in map[string]any, public crypto.PublicKey) (*x509.Certificate, error) {
	const serialBits = 128
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits))
	if err != nil {
		return nil, err
	}
	hours, _ := in["validityPeriodHours"].(float64)
	start := time.Now().UTC().Truncate(time.Second)
	end := start.Add(time.Duration(hours) * time.Hour)
	t := &x509.Certificate{SerialNumber: serial, NotBefore: start, NotAfter: end, BasicConstraintsValid: true}
	t.IsCA, _ = in["isCaCertificate"].(bool)
	for _, name := range texts(in, "allowedUses") {
		if u, ok := keyUsages()[name]; ok {
			t.KeyUsage |= u
		}
		if u, ok := extendedKeyUsages()[name]; ok {
			t.ExtKeyUsage = append(t.ExtKeyUsage, u)
		}
	}
	if set, _ := in["setSubjectKeyId"].(bool); set || t.IsCA {
		if t.SubjectKeyId, err = subjectKeyID(public); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// subjectKeyID follows RFC 5280 §4.2.1.2, method (1).
func subjectKeyID(public crypto.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, err
	}
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}
	if _, err := asn1.Unmarshal(der, &info); err != nil {
		return nil, err
	}
	return sha1Sum(info.Key.Bytes), nil
}

type alternativeNames struct {
	dns  []string
	ips  []net.IP
	uris []*url.URL
}

func subjectAlternativeNames(in map[string]any) (alternativeNames, error) {
	n := alternativeNames{dns: texts(in, "dnsNames")}
	var errs []error
	for _, s := range texts(in, "ipAddresses") {
		ip := net.ParseIP(s)
		if ip == nil {
			errs = append(errs, fmt.Errorf("ipAddresses: %q is not an address", s))
		}
		n.ips = append(n.ips, ip)
	}
	for _, s := range texts(in, "uris") {
		u, err := url.Parse(s)
		if err != nil {
			errs = append(errs, fmt.Errorf("uris: %w", err))
		}
		n.uris = append(n.uris, u)
	}
	return n, errors.Join(errs...)
}

func subject(in map[string]any) pkix.Name {
	s, _ := in["subject"].(map[string]any)
	list := func(key string) []string {
		if v := text(s, key); v != "" {
			return []string{v}
		}
		return nil
	}
	return pkix.Name{
		CommonName: text(s, "commonName"), SerialNumber: text(s, "serialNumber"),
		Country: list("country"), Locality: list("locality"), Organization: list("organization"),
		OrganizationalUnit: list("organizationalUnit"), PostalCode: list("postalCode"),
		Province: list("province"), StreetAddress: texts(s, "streetAddresses"),
	}
}
