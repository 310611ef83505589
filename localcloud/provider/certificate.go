package provider

import (
	"crypto"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // ids and key identifiers, as RFC 5280 describes them
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

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
)

func fingerprint(der []byte) string {
	sum := sha1.Sum(der) //nolint:gosec // an id
	return hex.EncodeToString(sum[:])
}

func certRequest(r Request) (Result, error) {
	in := catalog.Plain(r.Inputs)
	keyPEM, _ := in["privateKeyPem"].(string)
	key, algorithm, err := parseKey(keyPEM)
	if err != nil {
		return Result{}, fmt.Errorf("create certificate request %s: %w", r.Name, err)
	}
	n, err := alternativeNames(in)
	if err != nil {
		return Result{}, fmt.Errorf("create certificate request %s: %w", r.Name, err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: subject(in), DNSNames: n.dns, IPAddresses: n.ips, URIs: n.uris,
	}, key)
	if err != nil {
		return Result{}, fmt.Errorf("create certificate request %s: %w", r.Name, err)
	}
	return made(r, fingerprint(der), map[string]any{"certRequestPem": block("CERTIFICATE REQUEST", der), "keyAlgorithm": algorithm}, "privateKeyPem"), nil
}

func selfSignedCert(r Request) (Result, error) {
	in := catalog.Plain(r.Inputs)
	keyPEM, _ := in["privateKeyPem"].(string)
	key, algorithm, err := parseKey(keyPEM)
	if err != nil {
		return Result{}, fmt.Errorf("create certificate %s: %w", r.Name, err)
	}
	n, err := alternativeNames(in)
	if err != nil {
		return Result{}, fmt.Errorf("create certificate %s: %w", r.Name, err)
	}
	template, err := template(in, key.Public())
	if err != nil {
		return Result{}, err
	}
	template.Subject, template.DNSNames, template.IPAddresses, template.URIs = subject(in), n.dns, n.ips, n.uris
	return sign(r, template, template, key.Public(), key, map[string]any{"keyAlgorithm": algorithm}, "privateKeyPem")
}

func locallySignedCert(r Request) (Result, error) {
	in := catalog.Plain(r.Inputs)
	text := func(key string) string { s, _ := in[key].(string); return s }
	caKey, algorithm, err := parseKey(text("caPrivateKeyPem"))
	if err != nil {
		return Result{}, fmt.Errorf("create certificate %s: ca: %w", r.Name, err)
	}
	caBlock, _ := pem.Decode([]byte(text("caCertPem")))
	reqBlock, _ := pem.Decode([]byte(text("certRequestPem")))
	if caBlock == nil || reqBlock == nil {
		return Result{}, fmt.Errorf("create certificate %s: caCertPem and certRequestPem must be PEM", r.Name)
	}
	ca, err := x509.ParseCertificate(caBlock.Bytes)
	if err != nil {
		return Result{}, fmt.Errorf("create certificate %s: caCertPem: %w", r.Name, err)
	}
	req, err := x509.ParseCertificateRequest(reqBlock.Bytes)
	if err == nil {
		err = req.CheckSignature()
	}
	if err != nil {
		return Result{}, fmt.Errorf("create certificate %s: certRequestPem: %w", r.Name, err)
	}
	public, ok := req.PublicKey.(crypto.PublicKey)
	if !ok {
		return Result{}, errors.New("certRequestPem: no public key")
	}
	template, err := template(in, public)
	if err != nil {
		return Result{}, err
	}
	template.Subject, template.DNSNames, template.IPAddresses, template.URIs = req.Subject, req.DNSNames, req.IPAddresses, req.URIs
	return sign(r, template, ca, public, caKey, map[string]any{"caKeyAlgorithm": algorithm}, "caPrivateKeyPem")
}

func sign(r Request, template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer, outputs map[string]any, secret string) (Result, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return Result{}, fmt.Errorf("create certificate %s: %w", r.Name, err)
	}
	outputs["certPem"] = block("CERTIFICATE", der)
	outputs["validityStartTime"] = template.NotBefore.Format(time.RFC3339)
	outputs["validityEndTime"] = template.NotAfter.Format(time.RFC3339)
	outputs["readyForRenewal"] = false
	return made(r, template.SerialNumber.String(), outputs, secret), nil
}

// template is what both kinds of certificates share.
func template(in map[string]any, public crypto.PublicKey) (*x509.Certificate, error) {
	const serialBits = 128
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits))
	if err != nil {
		return nil, err
	}
	hours, _ := in["validityPeriodHours"].(float64)
	start := time.Now().UTC().Truncate(time.Second)
	t := &x509.Certificate{SerialNumber: serial, NotBefore: start, NotAfter: start.Add(time.Duration(hours) * time.Hour), BasicConstraintsValid: true}
	t.IsCA, _ = in["isCaCertificate"].(bool)
	uses, _ := in["allowedUses"].([]any)
	for _, e := range uses {
		name, _ := e.(string)
		if u, ok := keyUsages[name]; ok {
			t.KeyUsage |= u
		}
		if u, ok := extendedUsages[name]; ok {
			t.ExtKeyUsage = append(t.ExtKeyUsage, u)
		}
	}
	if set, _ := in["setSubjectKeyId"].(bool); set || t.IsCA {
		if t.SubjectKeyId, err = keyID(public); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// keyID is RFC 5280 §4.2.1.2 (1).
func keyID(public crypto.PublicKey) ([]byte, error) {
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
	sum := sha1.Sum(info.Key.Bytes) //nolint:gosec // as the RFC says
	return sum[:], nil
}

type names struct {
	dns  []string
	ips  []net.IP
	uris []*url.URL
}

func alternativeNames(in map[string]any) (names, error) {
	var n names
	var faults []error
	for _, s := range texts(in["dnsNames"]) {
		n.dns = append(n.dns, s)
	}
	for _, s := range texts(in["ipAddresses"]) {
		ip := net.ParseIP(s)
		if ip == nil {
			faults = append(faults, fmt.Errorf("ipAddresses: %q is not an address", s))
		}
		n.ips = append(n.ips, ip)
	}
	for _, s := range texts(in["uris"]) {
		u, err := url.Parse(s)
		if err != nil {
			faults = append(faults, fmt.Errorf("uris: %w", err))
		}
		n.uris = append(n.uris, u)
	}
	return n, errors.Join(faults...)
}

func texts(v any) []string {
	list, _ := v.([]any)
	out := make([]string, 0, len(list))
	for _, e := range list {
		s, _ := e.(string)
		out = append(out, s)
	}
	return out
}

func subject(in map[string]any) pkix.Name {
	s, _ := in["subject"].(map[string]any)
	text := func(key string) string { v, _ := s[key].(string); return v }
	one := func(key string) []string {
		if v := text(key); v != "" {
			return []string{v}
		}
		return nil
	}
	return pkix.Name{
		CommonName: text("commonName"), SerialNumber: text("serialNumber"),
		Country: one("country"), Locality: one("locality"), Organization: one("organization"),
		OrganizationalUnit: one("organizationalUnit"), PostalCode: one("postalCode"),
		Province: one("province"), StreetAddress: texts(s["streetAddresses"]),
	}
}

// The names are those of rules.KeyUsages.
//
//nolint:gochecknoglobals // two tables, read-only
var (
	keyUsages = map[string]x509.KeyUsage{
		"digital_signature": x509.KeyUsageDigitalSignature, "content_commitment": x509.KeyUsageContentCommitment,
		"key_encipherment": x509.KeyUsageKeyEncipherment, "data_encipherment": x509.KeyUsageDataEncipherment,
		"key_agreement": x509.KeyUsageKeyAgreement, "cert_signing": x509.KeyUsageCertSign, "crl_signing": x509.KeyUsageCRLSign,
		"encipher_only": x509.KeyUsageEncipherOnly, "decipher_only": x509.KeyUsageDecipherOnly,
	}
	extendedUsages = map[string]x509.ExtKeyUsage{
		"any_extended": x509.ExtKeyUsageAny, "server_auth": x509.ExtKeyUsageServerAuth, "client_auth": x509.ExtKeyUsageClientAuth,
		"code_signing": x509.ExtKeyUsageCodeSigning, "email_protection": x509.ExtKeyUsageEmailProtection,
		"ipsec_end_system": x509.ExtKeyUsageIPSECEndSystem, "ipsec_tunnel": x509.ExtKeyUsageIPSECTunnel, "ipsec_user": x509.ExtKeyUsageIPSECUser,
		"timestamping": x509.ExtKeyUsageTimeStamping, "ocsp_signing": x509.ExtKeyUsageOCSPSigning,
		"microsoft_server_gated_crypto": x509.ExtKeyUsageMicrosoftServerGatedCrypto, "netscape_server_gated_crypto": x509.ExtKeyUsageNetscapeServerGatedCrypto,
		"microsoft_commercial_code_signing": x509.ExtKeyUsageMicrosoftCommercialCodeSigning, "microsoft_kernel_code_signing": x509.ExtKeyUsageMicrosoftKernelCodeSigning,
	}
)
