package record

import (
	"cmp"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// namespacePrefix returns the prefix of an object's id: its namespace and a slash,
// "" for a namespace itself.
func namespacePrefix(typ, namespace string) string {
	if typ == "kubernetes:core/v1:Namespace" {
		return ""
	}
	return cmp.Or(namespace, "default") + "/"
}

// fillObject completes a Kubernetes object as an API server would.
func (d *draft) fillObject() {
	meta := resource.PropertyMap{}
	if m, ok := d.r.Inputs["metadata"]; ok && m.IsObject() {
		meta = m.ObjectValue().Copy()
	}
	before := resource.PropertyMap{}
	if m, ok := d.r.Outputs["metadata"]; ok && m.IsObject() {
		before = m.ObjectValue()
	}
	text := func(key string) string {
		if v, ok := meta[resource.PropertyKey(key)]; ok && v.IsString() {
			return v.StringValue()
		}
		return ""
	}
	prefix := namespacePrefix(d.r.Type, text("namespace"))
	if prefix != "" {
		meta["namespace"] = resource.NewStringProperty(strings.TrimSuffix(prefix, "/"))
	}
	d.setID(prefix + text("name"))
	setOnce := func(key string, value resource.PropertyValue) {
		k := resource.PropertyKey(key)
		if old, ok := before[k]; ok {
			value = old
		}
		meta[k] = value
	}
	setOnce("uid", resource.NewStringProperty(newUUID()))
	setOnce("creationTimestamp", resource.NewStringProperty(time.Now().UTC().Format(time.RFC3339)))
	generation := 1.0
	if g, ok := before["generation"]; ok && g.IsNumber() {
		generation = g.NumberValue() + 1
	}
	meta["generation"] = resource.NewNumberProperty(generation)
	meta["resourceVersion"] = resource.NewStringProperty(randomString("123456789", 6))
	d.out["metadata"] = resource.NewObjectProperty(meta)
	if d.r.Type == "kubernetes:core/v1:Secret" {
		d.markSecret("data")
		d.markSecret("stringData")
	}
}
