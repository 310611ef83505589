package controls

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"

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
)

func tlsRules() []Rule {
	return []Rule{
		{IDs: []string{"observatory/grafana-tls"}, Wants: "Grafana serves TLS with the certificate that the program made for it", Types: []string{typeDeployment},
			Only: named(string(platform.WorkloadGrafana)), Check: grafanaServesTLS},
		{IDs: []string{"observatory/grafana-trust"}, Wants: "Who fills Grafana trusts the program's authority alone", Types: []string{typeGrafana}, Check: grafanaIsTrusted},
		{IDs: []string{"observatory/kubernetes-tls"}, Wants: "The Kubernetes API is reached by TLS, and only the program's authority is trusted", Types: []string{typeKubernetes}, Check: kubernetesIsTrusted},
		{IDs: []string{"observatory/s3-tls"}, Wants: "Pods reach S3 by TLS, unless the operator's own gateway speaks none", Types: []string{typeConfigMap},
			Only: named(platform.ClusterConfigMap), Check: s3OverTLS},
	}
}

// named picks the Kubernetes object of this name.
func named(name string) func(Resource) bool {
	return func(r Resource) bool { return r.Text("metadata.name") == name }
}

// authority finds the certificate authority whose PEM this is.
func authority(pem any, all Resources) (Resource, bool) {
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
		"GF_SERVER_CERT_FILE": workloadconfig.GrafanaTLSDir + "/" + workloadconfig.GrafanaCertificate,
		"GF_SERVER_CERT_KEY":  workloadconfig.GrafanaTLSDir + "/" + workloadconfig.GrafanaKey,
	} {
		if env[name] != want {
			return unmet("%s is %q, not %q", name, env[name], want)
		}
	}
	for _, v := range podOf(r).Volumes {
		if v.Secret == nil {
			continue
		}
		mounted := slices.ContainsFunc(main.VolumeMounts, func(m mount) bool { return m.Name == v.Name && m.MountPath == workloadconfig.GrafanaTLSDir })
		if mounted {
			return certifiedBy(v.Secret.SecretName, all)
		}
	}
	return unmet("no Secret is mounted at %s", workloadconfig.GrafanaTLSDir)
}

// certifiedBy wants a Secret with a certificate that an authority of the
// program signed, and its key.
func certifiedBy(secret string, all Resources) Judgement {
	for _, s := range all.With(typeSecret, "metadata.name", secret) {
		data, _ := s.At("stringData").(map[string]any)
		cert, signed := all.output(typeSigned, "certPem", data[workloadconfig.GrafanaCertificate])
		if !signed {
			return unmet("the certificate in Secret %s is none of the program's", secret)
		}
		ca, found := authority(cert.At("caCertPem"), all)
		if !found {
			return unmet("%s is signed by none of the program's authorities", cert.Name)
		}
		key, found := all.output(typePrivateKey, "privateKeyPem", data[workloadconfig.GrafanaKey])
		if !found {
			return unmet("the key in Secret %s is none of the program's", secret)
		}
		return met(s, cert, key, ca)
	}
	return unmet("there is no Secret %s", secret)
}

func grafanaIsTrusted(r Resource, all Resources) Judgement {
	u, err := url.Parse(r.Text("url"))
	if err != nil || u.Scheme != "https" || u.Port() != fmt.Sprint(int(platform.Grafana)) {
		return unmet("url %q is not https on port %d", r.Text("url"), platform.Grafana)
	}
	if verify := r.At("insecureSkipVerify"); verify != nil && verify != "false" && verify != false {
		return unmet("insecureSkipVerify is %v", verify)
	}
	ca, found := authority(r.At("caCert"), all)
	if !found {
		return unmet("caCert is none of the program's authorities")
	}
	return met(ca)
}

func kubernetesIsTrusted(r Resource, all Resources) Judgement {
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
	ca, found := authority(string(pem), all)
	if err != nil || !found {
		return unmet("certificate-authority-data is none of the program's authorities")
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
