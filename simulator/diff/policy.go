package diff

import (
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"

	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// policy says what an edit of a type's fields does. Fields are given as
// patterns: paths with "*" for list indices.
type policy struct {
	replace      []string // these replace the resource; all others are updated in place
	inPlace      []string // if not nil: only these are updated in place; all others replace
	neverApplied []string // accepted and shown as an update, but never applied
	kept         []string // Optional and Computed: what is taken away, the provider reads back as it was
	// replaceIf maps a top-level field to the flag input that makes its edit
	// replace the resource.
	replaceIf   map[string]resource.PropertyKey
	deleteFirst bool // only one can exist: the old one is deleted before the new one is created
}

// replaceOn returns the policy that edits of these fields replace the resource.
func replaceOn(fields ...string) policy { return policy{replace: fields} }

// updateOnly returns the policy that all edits but those of these fields replace
// the resource.
func updateOnly(fields ...string) policy { return policy{inPlace: fields} }

// immutable returns the policy that every edit replaces the resource.
func immutable() policy { return policy{inPlace: []string{}} }

func policyFor(typ string, s Settings) policy {
	if strings.HasPrefix(typ, "kubernetes:") {
		return kubernetesPolicy(typ, s)
	}
	if p, ok := awsPolicies()[typ]; ok {
		return p
	}
	return otherPolicies()[typ]
}

// replaces reports whether an edit of the field at path replaces the resource.
func (p policy) replaces(path string, inputs resource.PropertyMap) bool {
	at := segments(path)
	if isWithinAny(at, p.neverApplied) {
		return false
	}
	if p.inPlace != nil {
		return !isWithinAny(at, p.inPlace)
	}
	for field, flag := range p.replaceIf {
		if v := inputs[flag]; v.IsBool() && v.BoolValue() && at[0] == field {
			return true
		}
	}
	return isWithinAny(at, p.replace)
}

func isWithinAny(path, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return isWithin(path, strings.Split(pattern, "."))
	})
}

// keeps reports whether a difference is of a value that was taken away and that the
// provider reads back.
func (p policy) keeps(path string, d plugin.PropertyDiff) bool {
	at := segments(path)
	return (d.Kind == plugin.DiffDelete || d.Kind == plugin.DiffDeleteReplace) && slices.ContainsFunc(p.kept, func(pattern string) bool {
		fields := strings.Split(pattern, ".")
		return len(at) == len(fields) && isWithin(at, fields)
	})
}

// NeverApplied lists the field patterns of a type whose edits the real provider
// accepts and ignores. The state keeps the old value, so every later run shows
// the difference again.
func NeverApplied(typ string) []string { return policyFor(typ, Settings{}).neverApplied }

// unappliedPaths returns the paths of earlier edits that were never applied: their
// outputs still differ from the inputs.
func unappliedPaths(typ string, outputs, newInputs resource.PropertyMap) []string {
	patterns := NeverApplied(typ)
	if len(patterns) == 0 {
		return nil
	}
	known := resource.PropertyMap{}
	for k := range newInputs {
		if v, ok := outputs[k]; ok {
			known[k] = v
		}
	}
	var paths []string
	for path := range changedPaths(known, newInputs) {
		if isWithinAny(segments(path), patterns) {
			paths = append(paths, path)
		}
	}
	return paths
}

// kubernetesPolicy returns the policy of an object: edits of its identity and of
// the immutable fields of workloads replace it, all others are patched in place
// (pulumi-kubernetes, forcenew.go). New data replaces a ConfigMap or Secret unless
// the provider's settings allow updates in place.
func kubernetesPolicy(typ string, s Settings) policy {
	p := policy{replace: []string{"apiVersion", "kind", "metadata.name", "metadata.namespace"}}
	switch typ {
	case "kubernetes:apps/v1:Deployment", "kubernetes:apps/v1:DaemonSet":
		p.replace = append(p.replace, "spec.selector")
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
	}
	return p
}

// deletesFirst reports whether the old resource is deleted before its
// replacement is created: Kubernetes objects whose name the program chose, and
// the AWS resources marked so.
func (p policy) deletesFirst(typ string, newInputs resource.PropertyMap) bool {
	if !strings.HasPrefix(typ, "kubernetes:") {
		return p.deleteFirst
	}
	meta, _ := property.Plain(newInputs)["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	return annotations["pulumi.com/autonamed"] != "true"
}
