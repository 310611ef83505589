package controlnode

import (
	"fmt"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"
	"github.com/pulumi/pulumi-tls/sdk/v5/go/tls"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	boot "github.com/emr-observatory/emr-observatory/assets/controlnode"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Validity in hours. An authority lives as long as K3s's own (ten years) and
// is not renewed by itself: the node keeps what it was first given. The
// administrator's certificate is renewed by any update in its last month.
const (
	authorityHours     = 10 * 365 * 24
	administratorHours = 365 * 24
	renewalHours       = 30 * 24
)

// Names of the authorities: the stems of boot.CAFiles.
const (
	serverCA        = "server-ca"
	clientCA        = "client-ca"
	requestHeaderCA = "request-header-ca"
)

type certificate struct{ cert, key pulumi.StringOutput } // PEM; key is secret

// pki is the public key infrastructure that the program makes for K3s.
type pki struct {
	authorities   map[string]certificate // by name
	administrator certificate
	prefix        string // SSM path of the parameters, ending in a slash
	parameters    []*ssm.Parameter
}

// authorities makes the authorities and the administrator, and stores the
// former where the node finds them.
func (b *builder) authorities() (pki, error) {
	p := pki{authorities: map[string]certificate{}, prefix: b.parameterPath("k3s") + "/"}
	for _, name := range []string{serverCA, clientCA, requestHeaderCA} {
		ca, err := b.authority(name)
		if err != nil {
			return pki{}, err
		}
		p.authorities[name] = ca
	}
	var err error
	if p.administrator, err = b.administrator(p.authorities[clientCA]); err != nil {
		return pki{}, err
	}
	for _, file := range boot.CAFiles() {
		parameter, err := b.parameter(p, file)
		if err != nil {
			return pki{}, err
		}
		p.parameters = append(p.parameters, parameter)
	}
	return p, nil
}

// parameterPath holds project and stack: parameter names are the account's.
func (b *builder) parameterPath(of string) string {
	return "/" + strings.Join([]string{b.ctx.Project(), b.ctx.Stack(), b.base, of}, "/")
}

func (b *builder) privateKey(role string) (*tls.PrivateKey, error) {
	key, err := tls.NewPrivateKey(b.ctx, b.name(role), &tls.PrivateKeyArgs{
		Algorithm:  pulumi.String("ECDSA"),
		EcdsaCurve: pulumi.String("P256"),
	}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("create key %s: %w", b.name(role), err)
	}
	return key, nil
}

func secret(s pulumi.StringOutput) pulumi.StringOutput {
	return pulumi.ToSecret(s).(pulumi.StringOutput) //nolint:forcetypeassert // ToSecret keeps the type
}

func (b *builder) authority(name string) (certificate, error) {
	key, err := b.privateKey(name + "-key")
	if err != nil {
		return certificate{}, err
	}
	cert, err := tls.NewSelfSignedCert(b.ctx, b.name(name), &tls.SelfSignedCertArgs{
		PrivateKeyPem:       key.PrivateKeyPem,
		IsCaCertificate:     pulumi.Bool(true),
		SetSubjectKeyId:     pulumi.Bool(true),
		AllowedUses:         pulumi.ToStringArray([]string{"cert_signing", "digital_signature", "key_encipherment"}),
		Subject:             tls.SelfSignedCertSubjectArgs{CommonName: pulumi.String(platform.Name + "-" + name)},
		ValidityPeriodHours: pulumi.Int(authorityHours),
	}, b.child()...)
	if err != nil {
		return certificate{}, fmt.Errorf("create authority %s: %w", b.name(name), err)
	}
	return certificate{cert.CertPem, secret(key.PrivateKeyPem)}, nil
}

// administrator is the client that Kubernetes takes for a cluster
// administrator: the group system:masters is bound to cluster-admin from the
// start.
func (b *builder) administrator(ca certificate) (certificate, error) {
	const role = "administrator"
	key, err := b.privateKey(role + "-key")
	if err != nil {
		return certificate{}, err
	}
	request, err := tls.NewCertRequest(b.ctx, b.name(role+"-request"), &tls.CertRequestArgs{
		PrivateKeyPem: key.PrivateKeyPem,
		Subject: tls.CertRequestSubjectArgs{
			CommonName:   pulumi.String("system:admin"),
			Organization: pulumi.String("system:masters"),
		},
	}, b.child()...)
	if err != nil {
		return certificate{}, fmt.Errorf("create certificate request %s: %w", b.name(role), err)
	}
	cert, err := tls.NewLocallySignedCert(b.ctx, b.name(role), &tls.LocallySignedCertArgs{
		CertRequestPem:      request.CertRequestPem,
		CaCertPem:           ca.cert,
		CaPrivateKeyPem:     ca.key,
		AllowedUses:         pulumi.ToStringArray([]string{"key_encipherment", "digital_signature", "client_auth"}),
		ValidityPeriodHours: pulumi.Int(administratorHours),
		EarlyRenewalHours:   pulumi.Int(renewalHours),
	}, b.child()...)
	if err != nil {
		return certificate{}, fmt.Errorf("create certificate %s: %w", b.name(role), err)
	}
	return certificate{cert.CertPem, secret(key.PrivateKeyPem)}, nil
}

// parameter stores one file of boot.CAFiles.
func (b *builder) parameter(p pki, file string) (*ssm.Parameter, error) {
	name, kind, _ := strings.Cut(file, ".")
	ca, ok := p.authorities[name]
	if !ok {
		return nil, fmt.Errorf("store %s: there is no authority %q", file, name)
	}
	value := ca.cert
	if kind == "key" {
		value = ca.key
	}
	role := name + "-" + kind + "-parameter"
	parameter, err := ssm.NewParameter(b.ctx, b.name(role), &ssm.ParameterArgs{
		Name:        pulumi.String(p.prefix + file),
		Description: pulumi.String("K3s " + file + " of the control node, read at its first boot"),
		Type:        pulumi.String("SecureString"),
		KeyId:       b.args.KMSKeyARN,
		Value:       secret(value),
		Tags:        b.tags(role),
	}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("create parameter %s: %w", p.prefix+file, err)
	}
	return parameter, nil
}

func (p pki) parameterARNs() []pulumi.StringInput {
	out := make([]pulumi.StringInput, 0, len(p.parameters))
	for _, parameter := range p.parameters {
		out = append(out, parameter.Arn)
	}
	return out
}
