package stacks_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
	"github.com/emr-observatory/emr-observatory/stacks"
)

const (
	ownDomain  = "observatory.example.com"
	controlKey = platform.Project + ":controlNode"
)

// withCertificate are the values of stack dev with a certificate.
func withCertificate(t *testing.T, issued issuer.Certificate) map[string]string {
	t.Helper()
	return edited(t, map[string]map[string]any{"controlNode": {
		"certificate": map[string]string{"domain": ownDomain, "chain": issued.Chain(), "key": issued.Key},
	}})
}

// TestCertificateIsRehearsed takes stack dev through its life with a certificate whose
// key is a secret, as `pulumi config set --secret` makes it, and which expires soon. A
// misspelt property of a cluster is warned of in the same run.
func TestCertificateIsRehearsed(t *testing.T) {
	soon := time.Now().AddDate(0, 0, 20)
	values := withCertificate(t, issuer.Issue(t, soon, ownDomain))
	values[platform.Project+":clusters"] = `{"main":{"sparkDefaults":{"spark.sql.shuffle.partition":"8"}}}`
	config := auto.ConfigMap{}
	for k, v := range values {
		config[k] = auto.ConfigValue{Value: v, Secret: k == controlKey}
	}
	var transcript bytes.Buffer
	report, err := rehearse.Run(t.Context(), trial.Program(trial.Materials(t)), rehearse.Options{
		Project: platform.Project, Stack: "dev", Config: config, PulumiCommand: trial.Pulumi(t), WorkDir: t.TempDir(), Output: &transcript,
	})
	require.NoError(t, err)
	require.Greater(t, report.Checked, 100)
	require.Contains(t, transcript.String(), "controlNode.certificate: expires on "+soon.UTC().Format(time.DateOnly))
	require.Contains(t, transcript.String(), "clusters.main.sparkDefaults.spark.sql.shuffle.partition: [hidden] should have a name")
}

// Operators and the program use the domain, and the latter trusts the certificate. The
// Kubernetes API keeps its address and its own authorities.
func TestCertificatesDomainIsInURLs(t *testing.T) {
	issued := issuer.Issue(t, time.Now().AddDate(1, 0, 0), ownDomain)
	values := withCertificate(t, issued)
	secret := map[string]string{controlKey: values[controlKey]}
	delete(values, controlKey)
	rec, err := recorder.Run(trial.Program(trial.Materials(t)),
		append(trial.Answers(), recorder.WithConfig(values), recorder.WithSecrets(secret))...)
	require.NoError(t, err)
	provider, err := rec.One("pulumi:providers:grafana", "grafana")
	require.NoError(t, err)
	require.Contains(t, provider.Inputs["url"].String(), "https://"+ownDomain+":3000")
	require.Equal(t, issued.Chain(), provider.Inputs["caCert"].StringValue())
	cluster, err := rec.One("pulumi:providers:kubernetes", "kubernetes")
	require.NoError(t, err)
	require.Contains(t, cluster.Inputs["kubeconfig"].String(), "https://"+trial.PublicAddress+":6443")
}

// `pulumi up` refuses a key that is in the stack's file in clear, or sealed; it shows
// neither.
func TestUpRefusesKeysInClear(t *testing.T) {
	refused := func(values map[string]string, secrets map[string]string) error {
		values[platform.Project+":operatorCidrs"] = `["8.8.8.8/32"]`
		_, err := recorder.Run(stacks.Program, append(trial.Answers(), recorder.WithConfig(values), recorder.WithSecrets(secrets))...)
		return err
	}
	issued := issuer.Issue(t, time.Now().AddDate(1, 0, 0), ownDomain)
	err := refused(withCertificate(t, issued), nil)
	require.ErrorContains(t, err, "emr-observatory:controlNode.certificate.key: [hidden] must be a secret: the stack's file has it in clear")
	require.NotContains(t, err.Error(), issued.Key)

	issued.Key = string(schema.Sealed)
	err = refused(withCertificate(t, issued), nil)
	require.ErrorContains(t, err, "emr-observatory:controlNode.certificate.key: [hidden] must be the unencrypted private key")

	without := edited(t, nil)
	secret := map[string]string{controlKey: without[controlKey]}
	delete(without, controlKey)
	err = refused(without, secret)
	require.ErrorContains(t, err, "emr-observatory:controlNode: [secret] must not be a secret")
}
