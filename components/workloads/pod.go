package workloads

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
)

// podValues is everything that a pod is rendered from.
type podValues struct {
	workload
	account     pulumi.StringInput    // name of the ServiceAccount
	environment pulumi.StringInput    // name of the ConfigMap cluster-config
	configMap   pulumi.StringPtrInput // name of the ConfigMap with the server's files; nil = none
	claim       pulumi.StringInput    // name of the PersistentVolumeClaim; nil = none
	secrets     map[string]secret     // by name
	binary      binarySource          // of the project's own binary, if the container runs one
	hashes      pulumi.StringMap      // of what the pod reads at startup
}

// podSpec renders a pod that has no rights on the node and none on the Kubernetes
// API, and whose root file system is read-only.
func podSpec(p podValues) *corev1.PodSpecArgs {
	volumes, mounts := p.volumes()
	return &corev1.PodSpecArgs{
		ServiceAccountName:           p.account,
		AutomountServiceAccountToken: pulumi.Bool(false),
		EnableServiceLinks:           pulumi.Bool(false),
		// On SIGTERM the stores upload what they hold to S3.
		TerminationGracePeriodSeconds: pulumi.Int(60),
		SecurityContext: &corev1.PodSecurityContextArgs{
			RunAsNonRoot: pulumi.Bool(true), RunAsUser: pulumi.Int(p.User), RunAsGroup: pulumi.Int(p.User),
			FsGroup: pulumi.Int(p.User), FsGroupChangePolicy: pulumi.String("OnRootMismatch"),
			SeccompProfile: &corev1.SeccompProfileArgs{Type: pulumi.String("RuntimeDefault")},
		},
		InitContainers: p.initContainers(),
		Containers: corev1.ContainerArray{corev1.ContainerArgs{
			Name:            pulumi.String(p.Name),
			Image:           pulumi.String(p.Image.Ref()),
			Command:         pulumi.ToStringArray(p.command()),
			Args:            pulumi.ToStringArray(p.config.Args),
			EnvFrom:         envFrom(p.environment),
			Env:             p.env(),
			Ports:           containerPorts(p.Ports),
			VolumeMounts:    mounts,
			Resources:       resources(p.WorkloadRecord),
			SecurityContext: unprivilegedContext(),
			ReadinessProbe:  readinessProbe(p.WorkloadRecord),
			LivenessProbe:   liveness(p.Ports[0].Number),
		}},
		Volumes: volumes,
	}
}

// env returns the container's own environment, beside cluster-config's.
func (p podValues) env() corev1.EnvVarArray {
	env := corev1.EnvVarArray{corev1.EnvVarArgs{
		Name: pulumi.String(workloadconfig.EnvNodeName),
		ValueFrom: &corev1.EnvVarSourceArgs{
			FieldRef: &corev1.ObjectFieldSelectorArgs{FieldPath: pulumi.String("spec.nodeName")},
		},
	}}
	for _, name := range slices.Sorted(maps.Keys(p.config.Env)) {
		env = append(env, envVar(name, pulumi.String(p.config.Env[name])))
	}
	for _, name := range slices.Sorted(maps.Keys(p.config.SecretEnv)) {
		value := p.config.SecretEnv[name]
		env = append(env, corev1.EnvVarArgs{Name: pulumi.String(name), ValueFrom: &corev1.EnvVarSourceArgs{
			SecretKeyRef: &corev1.SecretKeySelectorArgs{
				Name: stringPtr(p.secrets[value.Secret].name), Key: pulumi.String(value.Key),
			},
		}})
	}
	return env
}

func envFrom(configMap pulumi.StringInput) corev1.EnvFromSourceArray {
	return corev1.EnvFromSourceArray{corev1.EnvFromSourceArgs{
		ConfigMapRef: &corev1.ConfigMapEnvSourceArgs{Name: stringPtr(configMap)},
	}}
}

func envVar(name string, value pulumi.StringInput) corev1.EnvVarArgs {
	return corev1.EnvVarArgs{Name: pulumi.String(name), Value: stringPtr(value)}
}

func stringPtr(s pulumi.StringInput) pulumi.StringPtrInput {
	return s.ToStringOutput().ToStringPtrOutput()
}

func unprivilegedContext() *corev1.SecurityContextArgs {
	return &corev1.SecurityContextArgs{
		AllowPrivilegeEscalation: pulumi.Bool(false), ReadOnlyRootFilesystem: pulumi.Bool(true),
		Capabilities: &corev1.CapabilitiesArgs{Drop: pulumi.ToStringArray([]string{"ALL"})},
	}
}

// resources limit the memory, which the servers keep to by themselves. CPU has no
// limit: an idle core helps a slow query, and requests divide a busy one.
func resources(r platform.WorkloadRecord) *corev1.ResourceRequirementsArgs {
	mebibytes := func(n int) pulumi.String { return pulumi.String(fmt.Sprintf("%dMi", n)) }
	return &corev1.ResourceRequirementsArgs{
		Requests: pulumi.StringMap{"cpu": pulumi.String("50m"), "memory": mebibytes(r.RequestedMiB())},
		Limits:   pulumi.StringMap{"memory": mebibytes(r.MemoryMiB)},
	}
}

func readinessProbe(r platform.WorkloadRecord) *corev1.ProbeArgs {
	return &corev1.ProbeArgs{
		HttpGet: &corev1.HTTPGetActionArgs{
			Path: pulumi.String(r.Ready.Path), Port: pulumi.Int(int(r.ReadyPort())), Scheme: pulumi.String(strings.ToUpper(r.Scheme())),
		},
		PeriodSeconds: pulumi.Int(5), TimeoutSeconds: pulumi.Int(3), FailureThreshold: pulumi.Int(3),
	}
}

// liveness checks only that the server listens: a restart does not help one that
// is not ready because S3 is unreachable. The first start may take two minutes.
func liveness(port platform.Port) *corev1.ProbeArgs {
	return &corev1.ProbeArgs{
		TcpSocket:           &corev1.TCPSocketActionArgs{Port: pulumi.Int(int(port))},
		InitialDelaySeconds: pulumi.Int(120), PeriodSeconds: pulumi.Int(20), TimeoutSeconds: pulumi.Int(3), FailureThreshold: pulumi.Int(3),
	}
}

func containerPorts(ports []platform.WorkloadPort) corev1.ContainerPortArray {
	var out corev1.ContainerPortArray
	for _, p := range ports {
		out = append(out, corev1.ContainerPortArgs{Name: pulumi.String(p.Name), ContainerPort: pulumi.Int(int(p.Number))})
	}
	return out
}
