package localcloud

import (
	"maps"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/simulator"
)

// handlers returns the handlers of the resource types with a real part, by type
// token. All other types are only recorded.
func (c *cloud) handlers() map[string]simulator.Handler {
	h := map[string]simulator.Handler{
		"aws:s3/bucketV2:BucketV2":                  bucket{cloud: c},
		"aws:s3/bucketObjectv2:BucketObjectv2":      object{cloud: c},
		"aws:ec2/vpc:Vpc":                           vpc{},
		"aws:ec2/subnet:Subnet":                     subnet{cloud: c},
		"aws:ec2/instance:Instance":                 instance{cloud: c},
		"aws:ebs/volume:Volume":                     volume{cloud: c},
		"aws:ec2/volumeAttachment:VolumeAttachment": volumeAttachment{cloud: c},
		"aws:ssm/parameter:Parameter":               parameter{cloud: c},
		"aws:iam/role:Role":                         role{cloud: c},
		"aws:iam/rolePolicy:RolePolicy":             rolePolicy{cloud: c},
		"aws:iam/instanceProfile:InstanceProfile":   instanceProfile{cloud: c},
		"aws:iam/policy:Policy":                     managedPolicy{cloud: c},

		"aws:iam/rolePolicyAttachment:RolePolicyAttachment": policyAttachment{cloud: c},
	}
	maps.Copy(h, EMRHandlers(c.emr))
	if c.Grafana.Installed() {
		for token, kind := range grafanaKinds() {
			h[token] = grafanaObject{server: c.grafanaServer(), kind: kind}
		}
	}
	for token, put := range reachParts() {
		h[token] = reachPart{cloud: c, put: put}
	}
	for group, kinds := range map[string][]string{
		"apps/v1": {"Deployment", "DaemonSet"},
		"core/v1": {"ConfigMap", "Secret", "Service", "PersistentVolumeClaim"},
	} {
		for _, kind := range kinds {
			h["kubernetes:"+group+":"+kind] = kubernetesObject{cloud: c, kind: kind}
		}
	}
	return h
}

// apply records a resource, then applies it to the real part.
func apply(r simulator.Request, do func(recorded simulator.Result) error) (simulator.Result, error) {
	recorded, err := r.Recorded()
	if err != nil {
		return recorded, err
	}
	return recorded, do(recorded)
}

// unchangedResult returns what Read returns for a resource whose state matches the engine's.
func unchangedResult(r simulator.Request) simulator.Result {
	return simulator.Result{ID: r.ID, Outputs: r.Outputs}
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
