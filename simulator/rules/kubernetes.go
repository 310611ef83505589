package rules

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

const namesDoc = "Kubernetes docs, Object names and IDs"

// IsKubeconfig reports whether s is the content of a kubeconfig with a server.
func IsKubeconfig(s string) bool {
	var c struct {
		Clusters []struct {
			Cluster struct {
				Server string `json:"server"`
			} `json:"cluster"`
		} `json:"clusters"`
	}
	return yaml.Unmarshal([]byte(s), &c) == nil && len(c.Clusters) > 0 && strings.Contains(c.Clusters[0].Cluster.Server, "://")
}

// passes returns a predicate for strings in which a validation of apimachinery
// finds no error.
func passes(f func(string) []string) predicate {
	return onString(func(s string) bool { return len(f(s)) == 0 })
}

func isQuantity(s string) bool { _, err := resource.ParseQuantity(s); return err == nil }

// metadataRules apply to every Kubernetes object.
func metadataRules() []Rule {
	const all = "kubernetes:*"
	return []Rule{
		{Type: all, Path: "metadata.name", Rule: "must be a DNS subdomain (RFC 1123): lower case letters, digits, - and .",
			Source: namesDoc, Holds: onString(isObjectName), Pass: "tempo", Fail: "Tempo"},
		{Type: all, Path: "metadata.namespace", Rule: "must be a DNS label (RFC 1123)", Source: namesDoc,
			Holds: passes(validation.IsDNS1123Label), Pass: "observatory", Fail: "Observatory"},
		{Type: all, Path: "metadata.labels", Rule: "keys must be qualified names", Source: "Kubernetes docs, Labels and selectors",
			Holds: onObject(hasQualifiedKeys), Pass: object{"app.kubernetes.io/name": "x"}, Fail: object{"a b": "x"}},
		{Type: all, Path: "metadata.labels.*", Rule: "must be at most 63 characters of letters, digits, -, _ and .",
			Source: "Kubernetes docs, Labels and selectors", Holds: passes(validation.IsValidLabelValue), Pass: "v1", Fail: "a b"},
		{Type: all, Path: "metadata.annotations", Rule: "keys must be qualified names", Source: "Kubernetes docs, Annotations",
			Holds: onObject(hasQualifiedKeys), Pass: object{"a/b": "any text"}, Fail: object{"a b": "x"}},
	}
}

// coreRules cover core/v1 except pods.
func coreRules() []Rule {
	return []Rule{
		{Type: "kubernetes:core/v1:ConfigMap", Path: "data", Rule: "keys must use letters, digits, -, _ and .",
			Source: "Kubernetes docs, ConfigMaps", Holds: onObject(hasDataKeys), Pass: object{"tempo.yaml": "x"}, Fail: object{"a/b": "x"}},
		{Type: "kubernetes:core/v1:ConfigMap", Rule: "must be at most 1 MiB", Source: "Kubernetes docs, ConfigMaps",
			Holds: onObject(fitsConfigMap), Pass: object{"data": object{"a": "x"}},
			Fail: object{"data": object{"a": strings.Repeat("x", 1<<20+1)}}},
		{Type: "kubernetes:core/v1:Secret", Path: "stringData", Rule: "keys must use letters, digits, -, _ and .",
			Source: "Kubernetes docs, Secrets", Holds: onObject(hasDataKeys), Pass: object{"password": "x"}, Fail: object{"a/b": "x"}},
		enum("kubernetes:core/v1:Service", "spec.type", "Kubernetes API, ServiceSpec", "ClusterIP", "clusterIP", "ClusterIP", "NodePort",
			"LoadBalancer", "ExternalName"),
		{Type: "kubernetes:core/v1:Service", Path: "metadata.name", Rule: "must be a DNS label (RFC 1035): begin with a letter",
			Source: namesDoc, Holds: passes(validation.IsDNS1035Label), Pass: "tempo", Fail: "4tempo"},
		limits("kubernetes:core/v1:Service", "spec.ports[*].port", "Kubernetes API, ServicePort", "", 1, 65535, 3200, 0),
		{Type: "kubernetes:core/v1:Service", Path: "spec.ports", Rule: "several ports each need their own name",
			Source: "Kubernetes API, ServicePort", Holds: portsAreNamed, Pass: []any{object{"port": 1.0}},
			Fail: []any{object{"port": 1.0}, object{"port": 2.0}}},
		enum("kubernetes:core/v1:PersistentVolumeClaim", "spec.accessModes[*]", "Kubernetes docs, Persistent volumes", "ReadWriteOnce",
			"RWO", "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"),
		{Type: "kubernetes:core/v1:PersistentVolumeClaim", Path: "spec.resources.requests.storage", Rule: "must be a quantity",
			Remedy: "write e.g. 10Gi", Source: "Kubernetes docs, Quantity", Holds: onString(isQuantity), Pass: "10Gi", Fail: "10GB"},
	}
}

// appsRules cover apps/v1 except pods.
func appsRules() []Rule {
	out := []Rule{
		enum("kubernetes:apps/v1:Deployment", "spec.strategy.type", "Kubernetes API, DeploymentStrategy", "Recreate", "recreate",
			"Recreate", "RollingUpdate"),
		{Type: "kubernetes:apps/v1:Deployment", Path: "spec.replicas", Rule: "must not be negative",
			Source: "Kubernetes API, DeploymentSpec", Holds: between(0, 1e6), Pass: 1.0, Fail: -1.0},
		{Type: "kubernetes:apps/v1:Deployment", Path: "spec.strategy", Rule: "Recreate takes no rollingUpdate",
			Source: "Kubernetes API, DeploymentStrategy", Holds: onObject(updateFitsStrategy), Pass: object{"type": "Recreate"},
			Fail: object{"type": "Recreate", "rollingUpdate": object{}}},
	}
	selector := object{"matchLabels": object{"a": "b"}}
	for _, kind := range []string{"Deployment", "DaemonSet"} {
		out = append(out, Rule{Type: "kubernetes:apps/v1:" + kind, Path: "spec",
			Rule: "selector.matchLabels must be among the pod template's labels", Source: "Kubernetes API, " + kind + "Spec",
			Holds: onObject(selectorMatchesTemplate),
			Pass:  object{"selector": selector, "template": object{"metadata": object{"labels": object{"a": "b"}}}},
			Fail:  object{"selector": selector, "template": object{"metadata": object{"labels": object{"a": "c"}}}}})
	}
	return out
}

// isObjectName accepts a DNS subdomain, the widest of the kinds' rules.
func isObjectName(s string) bool { return len(validation.IsDNS1123Subdomain(s)) == 0 }

func hasQualifiedKeys(o object) bool {
	for k := range o {
		if len(validation.IsQualifiedName(strings.ToLower(k))) > 0 {
			return false
		}
	}
	return true
}

func hasDataKeys(o object) bool {
	for k := range o {
		if len(validation.IsConfigMapKey(k)) > 0 {
			return false
		}
	}
	return true
}

func fitsConfigMap(o object) bool {
	n := 0
	for _, part := range []string{"data", "binaryData"} {
		entries, _ := o[part].(object)
		for k, v := range entries {
			s, _ := v.(string)
			n += len(k) + len(s)
		}
	}
	return n <= 1<<20
}

// portsAreNamed accepts one port, or several with different names.
func portsAreNamed(v any) bool {
	items, _ := v.([]any)
	if len(items) < 2 {
		return true
	}
	for _, i := range items {
		if o, ok := i.(object); ok && !isSet(o, "name") {
			return false
		}
	}
	return unique("name")(v)
}

func selectorMatchesTemplate(o object) bool {
	selector, _ := o["selector"].(object)
	want, _ := selector["matchLabels"].(object)
	template, _ := o["template"].(object)
	meta, _ := template["metadata"].(object)
	labels, _ := meta["labels"].(object)
	if !isKnown(want) || !isKnown(template["metadata"]) {
		return true
	}
	for k, v := range want {
		if labels[k] != v {
			return false
		}
	}
	return len(want) > 0
}

func updateFitsStrategy(o object) bool {
	strategy, _ := stringField(o, "type")
	return strategy != "Recreate" || !isSet(o, "rollingUpdate")
}
