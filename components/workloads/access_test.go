package workloads_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/components/workloads"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// servers are the workloads that operators and their programs log in to.
func servers() []platform.Workload {
	return []platform.Workload{platform.WorkloadGrafana, platform.WorkloadStatus, platform.WorkloadTools}
}

// One authority signs all certificates, which are valid where operators and other
// pods reach the servers; each server has its own key and password.
func TestServersOfOperatorsHaveAnAccessEach(t *testing.T) {
	var authority pulumi.StringOutput
	rec := record(t, sampleArgs(), func(ctx *pulumi.Context, w *workloads.Workloads) {
		authority = w.GrafanaCACertificate
		ctx.Export("authority", authority)
	})
	require.False(t, pulumi.IsSecret(authority), "browsers and clients need it")
	for _, w := range servers() {
		name := "workloads-" + string(w)
		request, err := rec.One("tls:index/certRequest:CertRequest", name+"-request")
		require.NoError(t, err)
		inputs := request.Inputs.Mappable()
		require.Equal(t, []any{string(w), "localhost"}, inputs["dnsNames"])
		require.Equal(t, []any{"10.0.0.5", "127.0.0.1"}, inputs["ipAddresses"])
		signed, err := rec.One("tls:index/locallySignedCert:LocallySignedCert", name+"-certificate")
		require.NoError(t, err)
		require.Equal(t, "CERT-OF-workloads-grafana-ca", signed.Inputs["caCertPem"].StringValue())
		require.Equal(t, "REQUEST-OF-"+name+"-request", signed.Inputs["certRequestPem"].StringValue())
		secret, err := rec.One("kubernetes:core/v1:Secret", name+"-access")
		require.NoError(t, err)
		require.Equal(t, platform.AccessSecret(w), secret.Inputs["metadata"].ObjectValue()["name"].StringValue())
		data := secret.Inputs["stringData"]
		require.True(t, data.IsSecret())
		require.Equal(t, map[string]any{
			platform.AccessCertificate: "CERT-OF-" + name + "-certificate", platform.AccessKey: "KEY-OF-" + name + "-key",
			platform.AccessCACert: "CERT-OF-workloads-grafana-ca", platform.AccessPassword: "correct-horse-" + name + "-password",
		}, data.SecretValue().Element.Mappable())
	}
}

// A certificate of the user's own is every server's. No CA is created, and clients
// inside the cluster expect its domain.
func TestGivenCertificateServesOperators(t *testing.T) {
	const domain = "observatory.example.com"
	issued := issuer.Issue(t, time.Now().AddDate(1, 0, 0), domain)
	args := sampleArgs()
	args.Certificate = &schema.Certificate{Domain: domain, Chain: issued.Chain(), Key: schema.Secret(issued.Key)}
	rec := record(t, args, nil)
	for _, r := range rec.Resources {
		require.False(t, strings.HasPrefix(r.Type, "tls:"), r.Name)
	}
	for _, w := range servers() {
		secret, err := rec.One("kubernetes:core/v1:Secret", "workloads-"+string(w)+"-access")
		require.NoError(t, err)
		data := secret.Inputs["stringData"]
		require.True(t, data.IsSecret())
		require.Equal(t, map[string]any{
			platform.AccessCertificate: issued.Chain(), platform.AccessKey: issued.Key, platform.AccessCACert: issued.Chain(),
			platform.AccessServerName: domain, platform.AccessPassword: "correct-horse-workloads-" + string(w) + "-password",
		}, data.SecretValue().Element.Mappable())
	}
	main := pods(t, rec)[platform.WorkloadStatus].Spec.Containers[0]
	require.Equal(t, []string{"--server-name", domain}, main.Args[len(main.Args)-2:])
	config, err := rec.One("kubernetes:core/v1:ConfigMap", "workloads-status-config")
	require.NoError(t, err)
	for _, url := range []string{"https://" + domain + ":3000", "https://" + domain + ":8080"} {
		require.Contains(t, fmt.Sprint(config.Inputs["data"]), url)
	}

	before := pods(t, rec)
	renewed := issuer.Issue(t, time.Now().AddDate(2, 0, 0), domain)
	args.Certificate = &schema.Certificate{Domain: domain, Chain: renewed.Chain(), Key: schema.Secret(renewed.Key)}
	var restarted []platform.Workload
	for w, pod := range pods(t, record(t, args, nil)) {
		if pod.Annotations["observatory/config-hash"] != before[w].Annotations["observatory/config-hash"] {
			restarted = append(restarted, w)
		}
	}
	require.ElementsMatch(t, servers(), restarted, "those that read it")
}

func TestGivenCertificateIsChecked(t *testing.T) {
	args := sampleArgs()
	args.Certificate = &schema.Certificate{Domain: "observatory.example.com"}
	err := args.Validate()
	require.ErrorContains(t, err, "workloads.certificate.chain")
	require.ErrorContains(t, err, "workloads.certificate.key")
}

// A server reads its certificate at its start, and the status server its password
// too. Grafana reads its password at its first start only.
func TestAccessRestartsItsReaders(t *testing.T) {
	hashes := func(changed string) map[platform.Workload]string {
		rec := recordComputed(t, sampleArgs(), workloadconfig.Servers(), func(r recorder.Resource) resource.PropertyMap {
			if out := computed(r); r.Name != changed {
				return out
			}
			renewed := r
			renewed.Name += "-renewed"
			return computed(renewed)
		}, nil)
		out := map[platform.Workload]string{}
		for w, pod := range pods(t, rec) {
			out[w] = pod.Annotations["observatory/config-hash"]
		}
		return out
	}
	before := hashes("")
	for changed, want := range map[string][]platform.Workload{
		"workloads-grafana-certificate": {platform.WorkloadGrafana}, "workloads-grafana-password": nil,
		"workloads-status-certificate": {platform.WorkloadStatus}, "workloads-status-password": {platform.WorkloadStatus},
		"workloads-tools-certificate": {platform.WorkloadTools}, "workloads-tools-password": {platform.WorkloadTools},
	} {
		var restarted []platform.Workload
		for w, hash := range hashes(changed) {
			if hash != before[w] {
				restarted = append(restarted, w)
			}
		}
		require.Equal(t, want, restarted, changed)
	}
}

// The kubelet probes over TLS and without a password; the command line names files of
// the Secret, and not its values.
func TestStatusServesTLS(t *testing.T) {
	pod := pods(t, record(t, sampleArgs(), nil))[platform.WorkloadStatus].Spec
	main := pod.Containers[0]
	require.Equal(t, corev1.URISchemeHTTPS, main.ReadinessProbe.HTTPGet.Scheme)
	require.Equal(t, "/healthz", main.ReadinessProbe.HTTPGet.Path)
	require.Equal(t, []string{
		"serve", "--config", "/etc/observatory/status.json", "--certificate", "/etc/observatory-access/tls.crt",
		"--key", "/etc/observatory-access/tls.key", "--password-file", "/etc/observatory-access/password",
		"--ca-certificate", "/etc/observatory-access/ca.crt", "--data", "/var/lib/observatory",
	}, main.Args)
	var mounted []string
	for _, v := range pod.Volumes {
		if v.Secret != nil {
			mounted = append(mounted, v.Secret.SecretName)
		}
	}
	require.Equal(t, []string{"status-access"}, mounted, "not Grafana's, with its password")
}
