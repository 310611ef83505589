package rules

import (
	"strings"
)

func otherRules() []Rule {
	out := []Rule{
		{Type: "grafana:oss/dashboard:Dashboard", Path: "configJson", Rule: "must be a JSON object with a title and a uid of 1 to 40 characters a-z, A-Z, 0-9, - and _", Source: "Grafana HTTP API, Dashboard", Holds: text(dashboardJSON), Pass: `{"uid":"emr-overview","title":"EMR Overview"}`, Fail: `{"title":"EMR Overview"}`},
		{Type: "grafana:oss/folder:Folder", Path: "uid", Rule: "must be 1 to 40 characters a-z, A-Z, 0-9, - and _", Source: "Grafana HTTP API, Folder", Holds: matches(grafanaUID), Pass: "observatory", Fail: "a b"},
		{Type: "grafana:oss/dataSource:DataSource", Path: "uid", Rule: "must be 1 to 40 characters a-z, A-Z, 0-9, - and _", Source: "Grafana HTTP API, Data source", Holds: matches(grafanaUID), Pass: "tempo", Fail: "tempo!"},
		{Type: "grafana:oss/dataSource:DataSource", Path: "jsonDataEncoded", Rule: "must be a JSON object", Source: "pulumi-grafana DataSource", Holds: text(func(s string) bool { _, ok := jsonObject(s); return ok }), Pass: `{}`, Fail: `[]`},
		{Type: "grafana:oss/dataSource:DataSource", Path: "url", Rule: "must be an http:// or https:// URL", Source: "Grafana HTTP API, Data source", Holds: matches(`^https?://.+`), Pass: "http://tempo:3200", Fail: "tempo:3200"},
		{Type: "tls:index/privateKey:PrivateKey", Path: "algorithm", Rule: "must be RSA, ECDSA or ED25519", Source: "pulumi-tls PrivateKey", Holds: oneOf("RSA", "ECDSA", "ED25519"), Pass: "ECDSA", Fail: "ecdsa"},
		{Type: "tls:index/privateKey:PrivateKey", Path: "ecdsaCurve", Rule: "must be P224, P256, P384 or P521", Source: "pulumi-tls PrivateKey", Holds: oneOf("P224", "P256", "P384", "P521"), Pass: "P256", Fail: "P-256"},
		{Type: "tls:index/privateKey:PrivateKey", Path: "rsaBits", Rule: "must be 1024 to 16384", Remedy: "use 3072", Source: "crypto/rsa", Holds: between(1024, 16384), Pass: 3072.0, Fail: 512.0},
		{Type: "command:local:Command", Path: "logging", Rule: "must be stdout, stderr, stdoutAndStderr or none", Source: "pulumi-command Logging", Holds: oneOf("stdout", "stderr", "stdoutAndStderr", "none"), Pass: "none", Fail: "all"},
		{Type: "random:index/randomId:RandomId", Path: "byteLength", Rule: "must be at least 1", Source: "pulumi-random RandomId", Holds: between(1, 1e6), Pass: 4.0, Fail: 0.0},
		{Type: "random:index/randomPassword:RandomPassword", Path: "length", Rule: "must be at least 1", Source: "pulumi-random RandomPassword", Holds: between(1, 1e6), Pass: 24.0, Fail: 0.0},
		{Type: "random:index/randomPassword:RandomPassword", Path: "", Rule: "length must be at least minLower + minUpper + minNumeric + minSpecial", Source: "pulumi-random RandomPassword", Holds: whole(passwordMinima), Pass: object{"length": 8.0, "minLower": 2.0}, Fail: object{"length": 3.0, "minLower": 2.0, "minUpper": 2.0}},
	}
	for _, t := range []string{"tls:index/selfSignedCert:SelfSignedCert", "tls:index/locallySignedCert:LocallySignedCert"} {
		out = append(out,
			Rule{Type: t, Path: "allowedUses[*]", Rule: "must be a key usage such as cert_signing, digital_signature, server_auth", Source: "pulumi-tls", Holds: oneOf(KeyUsages()...), Pass: "server_auth", Fail: "serverAuth"},
			Rule{Type: t, Path: "validityPeriodHours", Rule: "must be positive", Source: "pulumi-tls", Holds: between(0, 1e9), Pass: 87600.0, Fail: -1.0})
	}
	return out
}

// KeyUsages gives the names that allowedUses takes: key usages, then extended
// ones (terraform-provider-tls, internal/provider/types.go).
func KeyUsages() []string {
	return []string{"digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "cert_signing", "crl_signing", "encipher_only", "decipher_only", "any_extended", "server_auth", "client_auth", "code_signing", "email_protection", "ipsec_end_system", "ipsec_tunnel", "ipsec_user", "timestamping", "ocsp_signing", "microsoft_server_gated_crypto", "netscape_server_gated_crypto", "microsoft_commercial_code_signing", "microsoft_kernel_code_signing"}
}

const grafanaUID = `^[a-zA-Z0-9_-]{1,40}$`

func dashboardJSON(s string) bool {
	o, ok := jsonObject(s)
	uid, hasUID := str(o, "uid")
	title, hasTitle := str(o, "title")
	return ok && hasUID && hasTitle && matches(grafanaUID)(uid) && strings.TrimSpace(title) != ""
}

func passwordMinima(o object) bool {
	length, ok := num(o, "length")
	sum := 0.0
	for _, k := range []string{"minLower", "minUpper", "minNumeric", "minSpecial"} {
		n, _ := num(o, k)
		sum += n
	}
	return !ok || sum <= length
}

// configRules are on the arguments of providers, under the token of the
// provider resource.
func configRules() []Rule {
	return []Rule{
		{Type: "pulumi:providers:aws", Path: "region", Rule: "must be a region name such as us-east-1", Source: "AWS General Reference, Regions", Holds: matches(`^[a-z]{2}(-[a-z]+)+-\d$`), Pass: "eu-central-1", Fail: "us-east"},
		{Type: "pulumi:providers:aws", Path: "allowedAccountIds[*]", Rule: "must be 12 digits", Source: "AWS General Reference, Account identifiers", Holds: matches(`^\d{12}$`), Pass: "123456789012", Fail: "prod"},
		{Type: "pulumi:providers:aws", Path: "defaultTags.tags", Rule: "at most 50 tags", Source: tagDoc, Holds: atMost(50), Pass: object{"a": "b"}, Fail: many(51)},
		{Type: "pulumi:providers:grafana", Path: "url", Rule: "must be an http:// or https:// URL", Source: "pulumi-grafana Provider", Holds: matches(`^https?://.+`), Pass: "https://10.0.0.10:3000", Fail: "10.0.0.10:3000"},
		{Type: "pulumi:providers:kubernetes", Path: "kubeconfig", Rule: "must be the content of a kubeconfig with a server", Remedy: "pass the file's content, not its path", Source: "Kubernetes docs, kubeconfig", Holds: text(Kubeconfig), Pass: "clusters: [{name: a, cluster: {server: 'https://10.0.0.10:6443'}}]", Fail: "/root/.kube/config"},
	}
}
