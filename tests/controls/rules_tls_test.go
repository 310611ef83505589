package controls

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	typeKubernetes  = "pulumi:providers:kubernetes"
	typeGrafana     = "pulumi:providers:grafana"
	typeSecret      = "kubernetes:core/v1:Secret"
	typeConfigMap   = "kubernetes:core/v1:ConfigMap"
	typeCertificate = "tls:index/selfSignedCert:SelfSignedCert"
	typeSigned      = "tls:index/locallySignedCert:LocallySignedCert"
	typePrivateKey  = "tls:index/privateKey:PrivateKey"
	typePassword    = "random:index/randomPassword:RandomPassword"
)

func tlsRules() []Rule {
	return []Rule{
		{IDs: []string{"observatory/grafana-tls"}, Requires: "Grafana serves TLS with the certificate that the program creates for it",
			Types: []string{typeDeployment},
			Only:  named(string(platform.WorkloadGrafana)), Check: grafanaServesTLS},
		{IDs: []string{"observatory/status-tls"},
			Requires: "The status server and the tools serve TLS with the program's certificate, and require a password",
			Types:    []string{typeDeployment}, Only: servesAtCommand, Check: servesTLS},
		{IDs: []string{"observatory/grafana-trust"}, Requires: "The Grafana provider trusts only the program's CA",
			Types: []string{typeGrafana}, Check: grafanaProviderVerifiesTLS},
		{IDs: []string{"observatory/kubernetes-tls"}, Requires: "The Kubernetes provider uses TLS and trusts only the program's CA",
			Types: []string{typeKubernetes}, Check: kubernetesProviderVerifiesTLS},
		{IDs: []string{"observatory/s3-tls"}, Requires: "Pods use TLS for S3, unless a configured endpoint has none",
			Types: []string{typeConfigMap},
			Only:  named(platform.ClusterConfigMap), Check: s3OverTLS},
	}
}

// named selects the Kubernetes object with this name.
func named(name string) func(Resource) bool {
	return func(r Resource) bool { return r.Text("metadata.name") == name }
}

// caWithCert finds the certificate authority with this certificate.
func caWithCert(pem any, all Resources) (Resource, bool) {
	ca, found := all.output(typeCertificate, "certPem", pem)
	return ca, found && ca.At("isCaCertificate") == true
}

func grafanaServesTLS(r Resource, all Resources) Judgement {
	main := containers(r)[0]
	env := map[string]string{}
	for _, e := range main.Env {
		env[e.Name] = e.Value
	}
	for name, want := range map[string]string{
		"GF_SERVER_PROTOCOL": "https", "GF_SECURITY_COOKIE_SECURE": "true", "GF_AUTH_ANONYMOUS_ENABLED": "false",
		"GF_SERVER_CERT_FILE": workloadconfig.GrafanaTLSDir + "/" + platform.AccessCertificate,
		"GF_SERVER_CERT_KEY":  workloadconfig.GrafanaTLSDir + "/" + platform.AccessKey,
	} {
		if env[name] != want {
			return unmet("%s is %q, not %q", name, env[name], want)
		}
	}
	return mountsSignedCertificate(r, workloadconfig.GrafanaTLSDir, all)
}

// accessFlags are the flags of the servers that are told on their command lines where their
// certificate, key and password are, with the key of the workload's Secret that each names.
func accessFlags() map[platform.Workload]map[string]string {
	return map[platform.Workload]map[string]string{
		platform.WorkloadStatus: {
			"--certificate": platform.AccessCertificate, "--key": platform.AccessKey, "--password-file": platform.AccessPassword,
		},
		platform.WorkloadTools: { // whose password is a bearer token
			"--certificate-file": platform.AccessCertificate, "--key-file": platform.AccessKey, "--token-file": platform.AccessPassword,
		},
	}
}

func servesAtCommand(r Resource) bool {
	_, serves := accessFlags()[platform.Workload(r.Text("metadata.name"))]
	return serves
}

// servesTLS requires the command line of a server to name files of its Secret, which has a
// certificate and a password of the program. The server does not start without them.
func servesTLS(r Resource, all Resources) Judgement {
	workload := platform.Workload(r.Text("metadata.name"))
	args := containers(r)[0].Args
	dir := ""
	for flag, key := range accessFlags()[workload] {
		file := ""
		for i, arg := range args {
			if value, joined := strings.CutPrefix(arg, flag+"="); joined {
				file = value
			} else if arg == flag && i+1 < len(args) {
				file = args[i+1]
			}
		}
		if path.Base(file) != key {
			return unmet("%s does not name %s", flag, key)
		}
		dir = path.Dir(file)
	}
	judged := mountsSignedCertificate(r, dir, all)
	for _, secret := range judged.By.With(typeSecret, "metadata.name", platform.AccessSecret(workload)) {
		data, _ := secret.At("stringData").(map[string]any)
		password, found := all.output(typePassword, "result", data[platform.AccessPassword])
		if !found {
			return unmet("the password in Secret %s is not created by this program", secret.Text("metadata.name"))
		}
		judged.By = append(judged.By, password)
	}
	return judged
}

// mountsSignedCertificate requires the main container to see, in a folder, a Secret
// that holds a certificate signed by a CA of the program.
func mountsSignedCertificate(r Resource, dir string, all Resources) Judgement {
	main := containers(r)[0]
	for _, v := range podOf(r).Volumes {
		if v.Secret == nil {
			continue
		}
		mounted := slices.ContainsFunc(main.VolumeMounts, func(m mount) bool { return m.Name == v.Name && m.MountPath == dir })
		if mounted {
			return secretHoldsSignedCertificate(r.At("metadata.namespace"), v.Secret.SecretName, all)
		}
	}
	return unmet("no Secret is mounted at %s", dir)
}

// secretHoldsSignedCertificate requires every Secret of this name in the namespace to
// hold a certificate signed by a CA of the program, and its key. A pod mounts Secrets
// of its own namespace only.
func secretHoldsSignedCertificate(namespace any, secret string, all Resources) Judgement {
	secrets := all.With(typeSecret, "metadata.name", secret).With(typeSecret, "metadata.namespace", namespace)
	if len(secrets) == 0 {
		return unmet("no Secret %s exists", secret)
	}
	var by Resources
	for _, s := range secrets {
		data, _ := s.At("stringData").(map[string]any)
		cert, signed := all.output(typeSigned, "certPem", data[platform.AccessCertificate])
		if !signed {
			return unmet("the certificate in Secret %s is not created by this program", secret)
		}
		ca, found := caWithCert(cert.At("caCertPem"), all)
		if !found {
			return unmet("%s is not signed by a CA of this program", cert.Name)
		}
		key, found := all.output(typePrivateKey, "privateKeyPem", data[platform.AccessKey])
		if !found {
			return unmet("the key in Secret %s is not created by this program", secret)
		}
		by = append(by, s, cert, key, ca)
	}
	return met(by...)
}

func grafanaProviderVerifiesTLS(r Resource, all Resources) Judgement {
	u, err := url.Parse(r.Text("url"))
	if err != nil || u.Scheme != "https" || u.Port() != fmt.Sprint(int(platform.Grafana)) {
		return unmet("url %q is not https on port %d", r.Text("url"), platform.Grafana)
	}
	if verify := r.At("insecureSkipVerify"); verify != nil && verify != "false" && verify != false {
		return unmet("insecureSkipVerify is %v", verify)
	}
	ca, found := caWithCert(r.At("caCert"), all)
	if !found {
		return unmet("caCert is not the certificate of a CA of this program")
	}
	return met(ca)
}

func kubernetesProviderVerifiesTLS(r Resource, all Resources) Judgement {
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server    string `json:"server"`
				Authority string `json:"certificate-authority-data"`
				Insecure  bool   `json:"insecure-skip-tls-verify"`
			} `json:"cluster"`
		} `json:"clusters"`
	}
	if err := yaml.Unmarshal([]byte(r.Text("kubeconfig")), &config); err != nil || len(config.Clusters) != 1 {
		return unmet("kubeconfig does not name one cluster")
	}
	c := config.Clusters[0].Cluster
	u, err := url.Parse(c.Server)
	if err != nil || u.Scheme != "https" || u.Port() != fmt.Sprint(int(platform.KubernetesAPI)) {
		return unmet("server %q is not https on port %d", c.Server, platform.KubernetesAPI)
	}
	if c.Insecure {
		return unmet("insecure-skip-tls-verify is set")
	}
	pem, err := base64.StdEncoding.DecodeString(c.Authority)
	ca, found := caWithCert(string(pem), all)
	if err != nil || !found {
		return unmet("certificate-authority-data is not the certificate of a CA of this program")
	}
	return met(ca)
}

func s3OverTLS(r Resource, _ Resources) Judgement {
	data, _ := r.At("data").(map[string]any)
	if data[platform.ConfigS3Insecure] != "false" && data[platform.ConfigS3EndpointURL] == nil {
		return unmet("%s is %v with AWS's own endpoint", platform.ConfigS3Insecure, data[platform.ConfigS3Insecure])
	}
	return met()
}
