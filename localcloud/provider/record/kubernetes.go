package record

import (
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// clusterScoped are the kinds without a namespace.
//
//nolint:gochecknoglobals // one table, read-only
var clusterScoped = map[string]bool{
	"Namespace": true, "PersistentVolume": true, "IngressClass": true,
}

// namespaced is the prefix of an object's id: its namespace and a slash.
func namespaced(typ, space string) string {
	if clusterScoped[typ[strings.LastIndex(typ, ":")+1:]] {
		return ""
	}
	return or(space, "default") + "/"
}

// kubernetes completes an object as an API server would.
func (d *draft) kubernetes() {
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
	prefix := namespaced(d.r.Type, text("namespace"))
	if prefix != "" {
		meta["namespace"] = resource.NewStringProperty(strings.TrimSuffix(prefix, "/"))
	}
	d.identify(prefix + text("name"))
	keep := func(key string, fresh resource.PropertyValue) {
		k := resource.PropertyKey(key)
		if old, ok := before[k]; ok {
			fresh = old
		}
		meta[k] = fresh
	}
	keep("uid", resource.NewStringProperty(uuid()))
	keep("creationTimestamp", resource.NewStringProperty(time.Now().UTC().Format(time.RFC3339)))
	generation := 1.0
	if g, ok := before["generation"]; ok && g.IsNumber() {
		generation = g.NumberValue() + 1
	}
	meta["generation"] = resource.NewNumberProperty(generation)
	meta["resourceVersion"] = resource.NewStringProperty(random("123456789", 6))
	d.out["metadata"] = resource.NewObjectProperty(meta)
	if d.r.Type == "kubernetes:core/v1:Secret" {
		d.conceal("data")
		d.conceal("stringData")
	}
}
