package workloads

import (
	"fmt"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi-tls/sdk/v5/go/tls"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/components/internal/certificate"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/platform"
)

// secret is a Kubernetes Secret.
type secret struct {
	name pulumi.StringInput
	// restartOn is the key whose change restarts the pods that mount the Secret,
	// "" for none; hash is the hash of its value.
	restartOn string
	hash      pulumi.StringInput
}

// access is how people and programs log in to Grafana.
type access struct {
	password      pulumi.StringOutput // secret
	caCertificate pulumi.StringOutput // PEM
	secret        secret              // workloadconfig.SecretGrafana
}

// grafanaAccess creates Grafana's certificate and its administrator's password,
// and a Secret with both that only Grafana's and the status server's pod read.
func (o objects) grafanaAccess(args *Args) (access, error) {
	password, err := random.NewRandomPassword(o.Ctx, o.Name("grafana-password"), &random.RandomPasswordArgs{
		Length: pulumi.Int(32), Special: pulumi.Bool(false), // it travels in basic authentication
	}, o.Options()...)
	if err != nil {
		return access{}, fmt.Errorf("create Grafana's password: %w", err)
	}
	ca, err := certificate.CreateCA(o.Builder, certificate.CASpec{Role: "grafana-ca", CommonName: platform.Name + " grafana"})
	if err != nil {
		return access{}, err
	}
	server, err := certificate.CreateLeaf(o.Builder, ca, grafanaCertificate(args))
	if err != nil {
		return access{}, err
	}
	const name = workloadconfig.SecretGrafana
	data, ok := pulumi.ToSecret(pulumi.StringMap{
		workloadconfig.GrafanaCertificate: server.Cert, workloadconfig.GrafanaKey: server.Key,
		workloadconfig.GrafanaCACert: ca.Cert, workloadconfig.GrafanaPassword: password.Result,
	}).(pulumi.StringMapOutput)
	if !ok {
		return access{}, fmt.Errorf("create Secret %s: its data is no map of strings", name)
	}
	created, err := corev1.NewSecret(o.Ctx, o.Name(name), &corev1.SecretArgs{Metadata: o.meta(name), StringData: data}, o.Options()...)
	if err != nil {
		return access{}, fmt.Errorf("create Secret %s: %w", name, err)
	}
	return access{
		password: output.Secret(password.Result), caCertificate: ca.Cert,
		// The certificate changes with its key, and Grafana reads the password at
		// its first start only.
		secret: secret{
			name: created.Metadata.Name().Elem(), restartOn: workloadconfig.GrafanaCertificate,
			hash: hashOf(pulumi.StringMap{workloadconfig.GrafanaCertificate: server.Cert}),
		},
	}, nil
}

// grafanaCertificate is valid for the control node's addresses and for the names
// that the status server and a tunnel use.
func grafanaCertificate(args *Args) certificate.LeafSpec {
	return certificate.LeafSpec{
		Stem: "grafana", Role: "grafana-certificate",
		Subject: tls.CertRequestSubjectArgs{CommonName: pulumi.String(platform.WorkloadGrafana)},
		DNS:     []string{string(platform.WorkloadGrafana), "localhost"},
		IPs:     args.certificateIPs(),
		Uses:    []string{"digital_signature", "key_encipherment", "server_auth"},
	}
}
