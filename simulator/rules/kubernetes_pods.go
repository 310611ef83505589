package rules

import (
	"k8s.io/apimachinery/pkg/util/validation"
)

// podRules cover pod specs in every kind that has one.
func podRules() []Rule {
	var out []Rule
	const spec = "spec.template.spec"
	for _, typ := range []string{"kubernetes:apps/v1:Deployment", "kubernetes:apps/v1:DaemonSet"} {
		out = append(out, podSpecRules(typ, spec)...)
		for _, list := range []string{"containers", "initContainers"} {
			out = append(out, containerRules(typ, spec+"."+list)...)
		}
	}
	return out
}

func podSpecRules(typ, spec string) []Rule {
	return []Rule{
		{Type: typ, Path: spec + ".volumes[*].name", Rule: "must be a DNS label (RFC 1123)", Source: "Kubernetes API, Volume",
			Holds: passes(validation.IsDNS1123Label), Pass: "data", Fail: "Data"},
		{Type: typ, Path: spec, Rule: "needs at least one container, and every volumeMount must name one of its volumes",
			Source: "Kubernetes API, PodSpec", Holds: onObject(mountsNameVolumes),
			Pass: object{"containers": []any{object{"volumeMounts": []any{object{"name": "a"}}}}, "volumes": []any{object{"name": "a"}}},
			Fail: object{"containers": []any{object{"volumeMounts": []any{object{"name": "b"}}}}, "volumes": []any{object{"name": "a"}}}},
	}
}

func containerRules(typ, list string) []Rule {
	at := list + "[*]"
	out := []Rule{
		{Type: typ, Path: list, Rule: "container names must be unique", Source: "Kubernetes API, PodSpec", Holds: unique("name"),
			Pass: []any{object{"name": "a"}}, Fail: []any{object{"name": "a"}, object{"name": "a"}}},
		{Type: typ, Path: at + ".name", Rule: "must be a DNS label (RFC 1123)", Source: "Kubernetes API, Container",
			Holds: passes(validation.IsDNS1123Label), Pass: "tempo", Fail: "Tempo"},
		enum(typ, at+".imagePullPolicy", "Kubernetes API, Container", "IfNotPresent", "ifNotPresent", "Always", "IfNotPresent", "Never"),
		limits(typ, at+".ports[*].containerPort", "Kubernetes API, ContainerPort", "", 1, 65535, 4317, 70000),
		limits(typ, at+".ports[*].hostPort", "Kubernetes API, ContainerPort", "", 1, 65535, 4317, 0),
		{Type: typ, Path: at + ".ports[*].name", Rule: "must be at most 15 lower case letters, digits and -, with a letter",
			Source: "Kubernetes API, ContainerPort", Holds: passes(validation.IsValidPortName), Pass: "otlp-grpc", Fail: "opentelemetry-grpc"},
		{Type: typ, Path: at + ".env[*].name", Rule: "must be an environment variable's name", Source: "Kubernetes API, EnvVar",
			Holds: passes(validation.IsEnvVarName), Pass: "S3_BUCKET", Fail: "S3 BUCKET"},
		{Type: typ, Path: at + ".env[*]", Rule: "takes value or valueFrom, not both", Source: "Kubernetes API, EnvVar",
			Holds: onObject(func(o object) bool { return !isSet(o, "value") || !isSet(o, "valueFrom") }), Pass: object{"value": "x"},
			Fail: object{"value": "x", "valueFrom": object{}}},
		{Type: typ, Path: at + ".volumeMounts[*].mountPath", Rule: "must be absolute and without a colon",
			Source: "Kubernetes API, VolumeMount", Holds: matches(`^/[^:]*$`), Pass: "/data", Fail: "data"},
	}
	for _, part := range []string{"requests", "limits"} {
		out = append(out, Rule{Type: typ, Path: at + ".resources." + part + ".*", Rule: "must be a quantity",
			Remedy: "write e.g. 100m or 256Mi", Source: "Kubernetes docs, Quantity", Holds: onString(isQuantity), Pass: "256Mi", Fail: "256MB"})
	}
	for _, probe := range []string{"livenessProbe", "readinessProbe"} {
		out = append(out, Rule{Type: typ, Path: at + "." + probe, Rule: "takes exactly one of exec, grpc, httpGet and tcpSocket",
			Source: "Kubernetes API, Probe",
			Holds:  onObject(func(o object) bool { return exactlyOne(o, "exec", "grpc", "httpGet", "tcpSocket") }),
			Pass:   object{"httpGet": object{}}, Fail: object{"httpGet": object{}, "exec": object{}}})
	}
	return out
}

// mountsNameVolumes requires a container, and a volume for every mount.
func mountsNameVolumes(o object) bool {
	declared := map[string]bool{}
	volumes, _ := o["volumes"].([]any)
	for _, v := range volumes {
		volume, _ := v.(object)
		name, ok := stringField(volume, "name")
		if !ok {
			return true
		}
		declared[name] = true
	}
	list, ok := o["containers"].([]any)
	if !ok || len(list) == 0 {
		return isSet(o, "containers") && !ok
	}
	extra, _ := o["initContainers"].([]any)
	for _, c := range append(append([]any{}, list...), extra...) {
		container, _ := c.(object)
		mounts, _ := container["volumeMounts"].([]any)
		for _, m := range mounts {
			mount, _ := m.(object)
			if name, ok := stringField(mount, "name"); ok && !declared[name] {
				return false
			}
		}
	}
	return true
}
