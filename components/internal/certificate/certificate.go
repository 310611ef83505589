// Package certificate creates private keys, certificate authorities (CAs) and
// certificates signed by them. Keys are ECDSA P-256. Everything is kept in the
// stack's state, keys as secrets.
package certificate

import (
	"fmt"
	"time"

	"github.com/pulumi/pulumi-tls/sdk/v5/go/tls"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/child"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
)

// Validity in hours. A CA is valid for ten years and is not renewed, so that its clients
// keep trusting it. A leaf is valid for one year.
const (
	caHours   = 10 * 365 * 24
	leafHours = 365 * 24
)

// Renewal is how long before the end of a leaf an update renews it.
const Renewal = 30 * 24 * time.Hour

// keySuffix and requestSuffix end the roles of a certificate's key and of its
// signing request.
const (
	keySuffix     = "-key"
	requestSuffix = "-request"
)

// Certificate is a certificate with its private key, both PEM.
type Certificate struct {
	Cert pulumi.StringOutput
	Key  pulumi.StringOutput // secret
}

// CASpec describes a self-signed CA.
type CASpec struct {
	Role       string // of the certificate; the key's ends in "-key"
	CommonName string
	Uses       []string // beside cert_signing and digital_signature
}

// LeafSpec describes a certificate signed by a CA.
type LeafSpec struct {
	Stem    string // of the roles of key and signing request
	Role    string // of the certificate
	Subject tls.CertRequestSubjectArgs
	DNS     []string
	IPs     pulumi.StringArrayInput // nil = none
	Uses    []string
}

// CreateCA creates a key and a self-signed CA certificate.
func CreateCA(b child.Builder, spec CASpec) (Certificate, error) {
	key, err := privateKey(b, spec.Role+keySuffix)
	if err != nil {
		return Certificate{}, err
	}
	cert, err := tls.NewSelfSignedCert(b.Ctx, b.Name(spec.Role), &tls.SelfSignedCertArgs{
		PrivateKeyPem:       key.PrivateKeyPem,
		IsCaCertificate:     pulumi.Bool(true),
		SetSubjectKeyId:     pulumi.Bool(true),
		AllowedUses:         pulumi.ToStringArray(append([]string{"cert_signing", "digital_signature"}, spec.Uses...)),
		Subject:             tls.SelfSignedCertSubjectArgs{CommonName: pulumi.String(spec.CommonName)},
		ValidityPeriodHours: pulumi.Int(caHours),
	}, b.Options()...)
	if err != nil {
		return Certificate{}, fmt.Errorf("create certificate authority %s: %w", b.Name(spec.Role), err)
	}
	return certificate(cert.CertPem, key), nil
}

// CreateLeaf creates a key and a certificate signed by ca.
func CreateLeaf(b child.Builder, ca Certificate, spec LeafSpec) (Certificate, error) {
	key, err := privateKey(b, spec.Stem+keySuffix)
	if err != nil {
		return Certificate{}, err
	}
	args := &tls.CertRequestArgs{PrivateKeyPem: key.PrivateKeyPem, Subject: spec.Subject}
	if len(spec.DNS) > 0 {
		args.DnsNames = pulumi.ToStringArray(spec.DNS)
	}
	if spec.IPs != nil {
		args.IpAddresses = spec.IPs
	}
	request, err := tls.NewCertRequest(b.Ctx, b.Name(spec.Stem+requestSuffix), args, b.Options()...)
	if err != nil {
		return Certificate{}, fmt.Errorf("create certificate request %s: %w", b.Name(spec.Stem), err)
	}
	cert, err := tls.NewLocallySignedCert(b.Ctx, b.Name(spec.Role), &tls.LocallySignedCertArgs{
		CertRequestPem:      request.CertRequestPem,
		CaCertPem:           ca.Cert,
		CaPrivateKeyPem:     ca.Key,
		AllowedUses:         pulumi.ToStringArray(spec.Uses),
		ValidityPeriodHours: pulumi.Int(leafHours),
		EarlyRenewalHours:   pulumi.Int(int(Renewal.Hours())),
	}, b.Options()...)
	if err != nil {
		return Certificate{}, fmt.Errorf("create certificate %s: %w", b.Name(spec.Role), err)
	}
	return certificate(cert.CertPem, key), nil
}

func privateKey(b child.Builder, role string) (*tls.PrivateKey, error) {
	key, err := tls.NewPrivateKey(b.Ctx, b.Name(role), &tls.PrivateKeyArgs{
		Algorithm:  pulumi.String("ECDSA"),
		EcdsaCurve: pulumi.String("P256"),
	}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create key %s: %w", b.Name(role), err)
	}
	return key, nil
}

// certificate pairs a certificate with its key, which it marks secret.
func certificate(cert pulumi.StringOutput, key *tls.PrivateKey) Certificate {
	return Certificate{Cert: cert, Key: output.Secret(key.PrivateKeyPem)}
}
