package rules

// providerRules cover the arguments of providers, whose type is the token of
// the provider resource.
func providerRules() []Rule {
	return []Rule{
		{Type: "pulumi:providers:aws", Path: "region", Rule: "must be a region name such as us-east-1",
			Source: "AWS General Reference, Regions", Holds: matches(`^[a-z]{2}(-[a-z]+)+-\d$`), Pass: "eu-central-1", Fail: "us-east"},
		{Type: "pulumi:providers:aws", Path: "defaultTags.tags", Rule: "at most 50 tags", Source: tagDoc, Holds: maxItems(50),
			Pass: object{"a": "b"}, Fail: manyTags(51)},
		{Type: "pulumi:providers:grafana", Path: "url", Rule: "must be an http:// or https:// URL", Source: "pulumi-grafana Provider",
			Holds: matches(`^https?://.+`), Pass: "https://10.0.0.10:3000", Fail: "10.0.0.10:3000"},
		{Type: "pulumi:providers:kubernetes", Path: "kubeconfig", Rule: "must be the content of a kubeconfig with a server",
			Remedy: "pass the file's content, not its path", Source: "Kubernetes docs, kubeconfig", Holds: onString(IsKubeconfig),
			Pass: "clusters: [{name: a, cluster: {server: 'https://10.0.0.10:6443'}}]", Fail: "/root/.kube/config"},
	}
}
