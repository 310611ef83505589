package workloads

import (
	"fmt"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi-tls/sdk/v5/go/tls"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Validity of certificates in hours: the authority ten years, so that
// operators trust it once; the server's certificate is renewed by any update
// in its last month.
const (
	authorityHours   = 10 * 365 * 24
	certificateHours = 365 * 24
	renewalHours     = 30 * 24
)

const (
	keyPassword  = "password"
	keyAuthority = "ca.crt"
)

// access is how people and programs get into Grafana.
type access struct {
	password  pulumi.StringOutput // secret
	authority pulumi.StringOutput // PEM
	secret    pulumi.StringInput  // name of the Secret with certificate, key, authority and password
	hash      pulumi.StringOutput
}

// grafanaAccess makes Grafana's certificate and its administrator's password
// and stores both where only Grafana's pod and the status server's read them.
func (b *builder) grafanaAccess() (access, error) {
	password, err := random.NewRandomPassword(b.ctx, b.name("grafana-password"), &random.RandomPasswordArgs{
		Length: pulumi.Int(32), Special: pulumi.Bool(false), // it travels in basic authentication
	}, b.child()...)
	if err != nil {
		return access{}, fmt.Errorf("create Grafana's password: %w", err)
	}
	caKey, ca, err := b.authority()
	if err != nil {
		return access{}, err
	}
	key, cert, err := b.certificate(caKey, ca)
	if err != nil {
		return access{}, err
	}
	data := pulumi.StringMap{
		workloadconfig.GrafanaCertificate: cert.CertPem, workloadconfig.GrafanaKey: key.PrivateKeyPem,
		keyAuthority: ca.CertPem, keyPassword: password.Result,
	}
	name := string(platform.WorkloadGrafana) + "-access"
	secret, err := corev1.NewSecret(b.ctx, b.name(name), &corev1.SecretArgs{
		Metadata: b.meta(name), StringData: pulumi.ToSecret(data).(pulumi.StringMapOutput),
	}, b.child()...)
	if err != nil {
		return access{}, fmt.Errorf("create Secret %s: %w", name, err)
	}
	// Of the secret parts only the certificate is hashed: it changes with the
	// key, and Grafana takes the password only at its first start.
	return access{
		password: pulumi.ToSecret(password.Result).(pulumi.StringOutput), authority: ca.CertPem,
		secret: secret.Metadata.Name().Elem(), hash: hashOf(pulumi.StringMap{workloadconfig.GrafanaCertificate: cert.CertPem}),
	}, nil
}

func (b *builder) key(role string) (*tls.PrivateKey, error) {
	key, err := tls.NewPrivateKey(b.ctx, b.name(role), &tls.PrivateKeyArgs{
		Algorithm: pulumi.String("ECDSA"), EcdsaCurve: pulumi.String("P256"),
	}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", role, err)
	}
	return key, nil
}

func (b *builder) authority() (*tls.PrivateKey, *tls.SelfSignedCert, error) {
	key, err := b.key("grafana-ca-key")
	if err != nil {
		return nil, nil, err
	}
	ca, err := tls.NewSelfSignedCert(b.ctx, b.name("grafana-ca"), &tls.SelfSignedCertArgs{
		PrivateKeyPem: key.PrivateKeyPem, IsCaCertificate: pulumi.Bool(true), SetSubjectKeyId: pulumi.Bool(true),
		AllowedUses: pulumi.ToStringArray([]string{"cert_signing", "digital_signature"}), ValidityPeriodHours: pulumi.Int(authorityHours),
		Subject: tls.SelfSignedCertSubjectArgs{CommonName: pulumi.String(platform.Name + " grafana")},
	}, b.child()...)
	if err != nil {
		return nil, nil, fmt.Errorf("create Grafana's authority: %w", err)
	}
	return key, ca, nil
}

// certificate is valid for the address that operators use, and for the names
// that the status server and a tunnel use.
func (b *builder) certificate(caKey *tls.PrivateKey, ca *tls.SelfSignedCert) (*tls.PrivateKey, *tls.LocallySignedCert, error) {
	key, err := b.key("grafana-key")
	if err != nil {
		return nil, nil, err
	}
	request, err := tls.NewCertRequest(b.ctx, b.name("grafana-request"), &tls.CertRequestArgs{
		PrivateKeyPem: key.PrivateKeyPem,
		DnsNames:      pulumi.ToStringArray([]string{string(platform.WorkloadGrafana), "localhost"}),
		IpAddresses:   pulumi.StringArray{b.args.ControlPrivateIP, pulumi.String("127.0.0.1")},
		Subject:       tls.CertRequestSubjectArgs{CommonName: pulumi.String(platform.WorkloadGrafana)},
	}, b.child()...)
	if err != nil {
		return nil, nil, fmt.Errorf("create Grafana's certificate request: %w", err)
	}
	cert, err := tls.NewLocallySignedCert(b.ctx, b.name("grafana-certificate"), &tls.LocallySignedCertArgs{
		CertRequestPem: request.CertRequestPem, CaCertPem: ca.CertPem, CaPrivateKeyPem: caKey.PrivateKeyPem,
		AllowedUses:         pulumi.ToStringArray([]string{"digital_signature", "key_encipherment", "server_auth"}),
		ValidityPeriodHours: pulumi.Int(certificateHours), EarlyRenewalHours: pulumi.Int(renewalHours),
	}, b.child()...)
	if err != nil {
		return nil, nil, fmt.Errorf("create Grafana's certificate: %w", err)
	}
	return key, cert, nil
}
