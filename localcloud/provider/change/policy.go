package change

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
)

// policy says what an edit of a type's fields does. Patterns are paths with
// "*" for list items.
type policy struct {
	replace []string // these replace, all else is updated in place
	inPlace []string // where set: these are updated in place, all else replaces
	silent  []string // accepted and shown as an update, never applied
	// replaceIf: this top-level field replaces where that flag is true
	replaceIf   map[string]resource.PropertyKey
	deleteFirst bool // the old one must go before the new one can be
}

func policyOf(typ string, s Settings) policy {
	if p, ok := awsPolicies[typ]; ok {
		return p
	}
	if p, ok := otherPolicies[typ]; ok {
		return p
	}
	if strings.HasPrefix(typ, "kubernetes:") {
		return kubernetesPolicy(typ, s)
	}
	return policy{}
}

func (p policy) replaces(path string, inputs resource.PropertyMap) bool {
	at := segments(path)
	if anyBelow(at, p.silent) {
		return false
	}
	if p.inPlace != nil {
		return !anyBelow(at, p.inPlace)
	}
	for field, flag := range p.replaceIf {
		if v := inputs[flag]; v.IsBool() && v.BoolValue() && at[0] == field {
			return true
		}
	}
	return anyBelow(at, p.replace)
}

func anyBelow(path, patterns []string) bool {
	for _, pattern := range patterns {
		if below(path, strings.Split(pattern, ".")) {
			return true
		}
	}
	return false
}

// Silent gives the field patterns of a type whose edits the real provider
// accepts without doing anything: the state keeps the old value, so that every
// later run shows the difference again.
func Silent(typ string) []string { return policyOf(typ, Settings{}).silent }

// silent finds edits that were accepted before but never applied: outputs that
// still differ from the inputs at a silent field.
func silent(typ string, outputs, newInputs resource.PropertyMap) map[string]bool {
	found := map[string]bool{}
	patterns := Silent(typ)
	if len(patterns) == 0 {
		return found
	}
	for path := range details(only(outputs, newInputs), newInputs) {
		if anyBelow(segments(path), patterns) {
			found[path] = true
		}
	}
	return found
}

func only(values, keys resource.PropertyMap) resource.PropertyMap {
	out := resource.PropertyMap{}
	for k := range keys {
		if v, ok := values[k]; ok {
			out[k] = v
		}
	}
	return out
}

// kubernetesPolicy: identity and the immutable parts of workloads replace, all
// else is patched in place (pulumi-kubernetes, forcenew.go). The data of a
// ConfigMap or Secret replaces it unless the provider's settings say that they
// may change in place.
func kubernetesPolicy(typ string, s Settings) policy {
	p := policy{replace: []string{"apiVersion", "kind", "metadata.name", "metadata.namespace"}}
	switch typ {
	case "kubernetes:apps/v1:Deployment", "kubernetes:apps/v1:DaemonSet":
		p.replace = append(p.replace, "spec.selector")
	case "kubernetes:apps/v1:StatefulSet":
		p.replace = append(p.replace, "spec.selector", "spec.serviceName", "spec.podManagementPolicy", "spec.volumeClaimTemplates")
	case "kubernetes:core/v1:ConfigMap":
		if !s.MutableConfigMaps {
			p.replace = append(p.replace, "data", "binaryData", "immutable")
		}
	case "kubernetes:core/v1:Secret":
		p.replace = append(p.replace, "type")
		if !s.MutableSecrets {
			p.replace = append(p.replace, "data", "stringData", "immutable")
		}
	case "kubernetes:core/v1:Service":
		p.replace = append(p.replace, "spec.clusterIP")
	case "kubernetes:core/v1:PersistentVolumeClaim":
		p.replace = append(p.replace, "spec.accessModes", "spec.storageClassName", "spec.volumeName", "spec.selector", "spec.volumeMode")
	case "kubernetes:core/v1:Pod":
		p.replace = append(p.replace, "spec")
	}
	return p
}

// deletesFirst: a Kubernetes object that keeps a name the program chose must
// go first; so must those AWS resources that take a place only one can have.
func (p policy) deletesFirst(typ string, newInputs resource.PropertyMap) bool {
	if !strings.HasPrefix(typ, "kubernetes:") {
		return p.deleteFirst
	}
	meta, _ := catalog.Plain(newInputs)["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	return annotations["pulumi.com/autonamed"] != "true"
}

// Patterns gives every field pattern of the tables, split at its dots, by
// type: the tables' own test compares them with the SDK's fields.
func Patterns() map[string][][]string {
	out := map[string][][]string{}
	for _, table := range []map[string]policy{awsPolicies, otherPolicies} {
		for typ, p := range table {
			out[typ] = [][]string{}
			for _, list := range [][]string{p.replace, p.inPlace, p.silent} {
				for _, pattern := range list {
					out[typ] = append(out[typ], strings.Split(pattern, "."))
				}
			}
		}
	}
	return out
}
