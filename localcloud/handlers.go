package localcloud

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// handlers returns the handlers of the resource types with a real part, by type
// token. All other types are only recorded.
func (c *cloud) handlers() map[string]simulator.Handler {
	h := map[string]simulator.Handler{}
	for _, parts := range []map[string]part{
		c.machineParts(), c.reachParts(), c.iamParts(), c.storageParts(), c.scheduleParts(), c.kubernetesParts(),
	} {
		for token, p := range parts {
			h[token] = p
		}
	}
	maps.Copy(h, EMRHandlers(c.emr))
	if c.Grafana.Installed() {
		for token, kind := range grafanaKinds() {
			g := grafanaObject{server: c.grafanaServer(), kind: kind}
			h[token] = part{put: g.put, exists: g.exists, remove: g.remove}
		}
	}
	return h
}

// kubernetesParts returns the kinds that package kube implements.
func (c *cloud) kubernetesParts() map[string]part {
	out := map[string]part{}
	for group, kinds := range map[string][]string{
		"apps/v1": {"Deployment", "DaemonSet"},
		"core/v1": {"ConfigMap", "Secret", "Service", "PersistentVolumeClaim"},
	} {
		for _, kind := range kinds {
			out["kubernetes:"+group+":"+kind] = part{
				put: func(ctx context.Context, r simulator.Result) error {
					raw, err := json.Marshal(property.Plain(r.Outputs))
					if err != nil {
						return fmt.Errorf("encode %s %s: %w", kind, r.ID, err)
					}
					return c.kube.Apply(ctx, kind, raw)
				},
				remove: func(ctx context.Context, r simulator.Request) error {
					namespace, name, _ := strings.Cut(r.ID, "/")
					return c.kube.Delete(ctx, kind, namespace, name)
				},
			}
		}
	}
	return out
}

// text reads a string property, also a secret or an output; "" if it is not set.
func text(m resource.PropertyMap, key resource.PropertyKey) string {
	v := m[key]
	for v.IsSecret() {
		v = v.SecretValue().Element
	}
	if v.IsOutput() {
		v = v.OutputValue().Element
	}
	if v.IsString() {
		return v.StringValue()
	}
	return ""
}

// number reads a whole number; 0 if it is not set.
func number(m resource.PropertyMap, key resource.PropertyKey) int {
	if v := m[key]; v.IsNumber() {
		return int(v.NumberValue())
	}
	return 0
}

// texts reads a list of strings.
func texts(m resource.PropertyMap, key resource.PropertyKey) []string {
	var out []string
	if list := m[key]; list.IsArray() {
		for _, v := range list.ArrayValue() {
			if v.IsString() {
				out = append(out, v.StringValue())
			}
		}
	}
	return out
}

// flag reads a boolean property; false if it is not set.
func flag(m resource.PropertyMap, key resource.PropertyKey) bool {
	v := m[key]
	return v.IsBool() && v.BoolValue()
}
