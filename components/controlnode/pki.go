package controlnode

import (
	"fmt"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"
	"github.com/pulumi/pulumi-tls/sdk/v5/go/tls"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	boot "github.com/emr-observatory/emr-observatory/assets/controlnode"
	"github.com/emr-observatory/emr-observatory/components/internal/certificate"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Names of the certificate authorities: the file stems in boot.CAFiles.
const (
	serverCA        = "server-ca"
	clientCA        = "client-ca"
	requestHeaderCA = "request-header-ca"
)

// pki is the public key infrastructure that the program makes for K3s.
type pki struct {
	cas           map[string]certificate.Certificate // certificate authorities by name
	administrator certificate.Certificate
	prefix        string           // SSM path of the parameters, ending in a slash
	parameters    []*ssm.Parameter // of boot.CAFiles, in their order
}

// createPKI creates the certificate authorities and the administrator's
// certificate, and stores the former in SSM parameters for the node.
func (b *builder) createPKI() (pki, error) {
	p := pki{cas: map[string]certificate.Certificate{}, prefix: b.parameterPath("k3s") + "/"}
	for _, name := range []string{serverCA, clientCA, requestHeaderCA} {
		ca, err := certificate.CreateCA(b.Builder, certificate.CASpec{
			Role: name, CommonName: platform.Name + "-" + name, Uses: []string{"key_encipherment"},
		})
		if err != nil {
			return pki{}, err
		}
		p.cas[name] = ca
	}
	var err error
	if p.administrator, err = certificate.CreateLeaf(b.Builder, p.cas[clientCA], administratorCertificate()); err != nil {
		return pki{}, err
	}
	for _, file := range boot.CAFiles() {
		parameter, err := b.storeCAFile(p, file)
		if err != nil {
			return pki{}, err
		}
		p.parameters = append(p.parameters, parameter)
	}
	return p, nil
}

// parameterPath returns the full name of an SSM parameter. It contains project and
// stack, because parameter names are unique in an account.
func (b *builder) parameterPath(name string) string {
	return "/" + strings.Join([]string{b.Ctx.Project(), b.Ctx.Stack(), b.Base(), name}, "/")
}

// administratorCertificate describes the client certificate of a cluster
// administrator: Kubernetes binds the group system:masters to cluster-admin.
func administratorCertificate() certificate.LeafSpec {
	const role = "administrator"
	return certificate.LeafSpec{
		Stem: role, Role: role,
		Subject: tls.CertRequestSubjectArgs{CommonName: pulumi.String("system:admin"), Organization: pulumi.String("system:masters")},
		Uses:    []string{"key_encipherment", "digital_signature", "client_auth"},
	}
}

// storeCAFile stores one of boot.CAFiles in an SSM parameter.
func (b *builder) storeCAFile(p pki, file string) (*ssm.Parameter, error) {
	name, kind, _ := strings.Cut(file, ".")
	ca, ok := p.cas[name]
	if !ok {
		return nil, fmt.Errorf("store %s: no certificate authority %q", file, name)
	}
	value := ca.Cert
	if kind == "key" {
		value = ca.Key
	}
	role := name + "-" + kind + "-parameter"
	parameter, err := ssm.NewParameter(b.Ctx, b.Name(role), &ssm.ParameterArgs{
		Name:        pulumi.String(p.prefix + file),
		Description: pulumi.String("K3s " + file + " of the control node, read at its first boot"),
		Type:        pulumi.String("SecureString"),
		KeyId:       b.args.KMSKeyARN,
		Value:       output.Secret(value),
		Tags:        b.Tags(role),
	}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create parameter %s: %w", p.prefix+file, err)
	}
	return parameter, nil
}

// Kinds of files in boot.CAFiles, by the ends of their names.
const certificateFile, keyFile = ".crt", ".key"

// parameterARNs returns the ARNs of the parameters with one kind of file.
func (p pki) parameterARNs(kind string) (arns []pulumi.StringInput) {
	for i, file := range boot.CAFiles() {
		if strings.HasSuffix(file, kind) {
			arns = append(arns, p.parameters[i].Arn)
		}
	}
	return arns
}
