package workloads

import (
	"fmt"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
)

// pod renders the unit's pod: no rights on the node, none on the Kubernetes
// API, a root file system that cannot be written.
func (b *builder) pod(u unit) *corev1.PodSpecArgs {
	u.mount("tmp", "/tmp", false, corev1.VolumeArgs{EmptyDir: &corev1.EmptyDirVolumeSourceArgs{}})
	main := corev1.ContainerArgs{
		Name:            pulumi.String(u.workload),
		Image:           pulumi.String(platform.Images[u.workload].Ref()),
		Command:         pulumi.ToStringArray(u.command),
		Args:            pulumi.ToStringArray(u.args),
		EnvFrom:         b.envFrom(),
		Env:             append(identity(), u.env...),
		Ports:           u.containerPorts(),
		VolumeMounts:    u.mounts,
		Resources:       resources(u.workload),
		SecurityContext: unprivileged(),
		ReadinessProbe:  readiness(u.workload),
		LivenessProbe:   u.liveness(),
	}
	return &corev1.PodSpecArgs{
		ServiceAccountName:           u.account,
		AutomountServiceAccountToken: pulumi.Bool(false),
		EnableServiceLinks:           pulumi.Bool(false),
		// The stores put what they hold into S3 when they are told to end.
		TerminationGracePeriodSeconds: pulumi.Int(60),
		SecurityContext: &corev1.PodSecurityContextArgs{
			RunAsNonRoot: pulumi.Bool(true), RunAsUser: pulumi.Int(u.user), RunAsGroup: pulumi.Int(u.user),
			FsGroup: pulumi.Int(u.user), FsGroupChangePolicy: pulumi.String("OnRootMismatch"),
			SeccompProfile: &corev1.SeccompProfileArgs{Type: pulumi.String("RuntimeDefault")},
		},
		InitContainers: u.init,
		Containers:     corev1.ContainerArray{main},
		Volumes:        u.volumes,
	}
}

func (b *builder) envFrom() corev1.EnvFromSourceArray {
	return corev1.EnvFromSourceArray{corev1.EnvFromSourceArgs{
		ConfigMapRef: &corev1.ConfigMapEnvSourceArgs{Name: b.environment.ToStringOutput().ToStringPtrOutput()},
	}}
}

// identity tells a container which node it runs on.
func identity() corev1.EnvVarArray {
	return corev1.EnvVarArray{corev1.EnvVarArgs{
		Name: pulumi.String(workloadconfig.EnvNodeName),
		ValueFrom: &corev1.EnvVarSourceArgs{
			FieldRef: &corev1.ObjectFieldSelectorArgs{FieldPath: pulumi.String("spec.nodeName")},
		},
	}}
}

func unprivileged() *corev1.SecurityContextArgs {
	return &corev1.SecurityContextArgs{
		AllowPrivilegeEscalation: pulumi.Bool(false), ReadOnlyRootFilesystem: pulumi.Bool(true),
		Capabilities: &corev1.CapabilitiesArgs{Drop: pulumi.ToStringArray([]string{"ALL"})},
	}
}

// resources bound the memory, which the servers keep to by themselves. CPU has
// no limit: an idle core helps a slow query, and requests share a busy one.
func resources(w platform.Workload) *corev1.ResourceRequirementsArgs {
	memory := workloadconfig.MemoryOf(w)
	half := workloadconfig.Memory{MiB: memory.MiB / 2}
	return &corev1.ResourceRequirementsArgs{
		Requests: pulumi.StringMap{"cpu": pulumi.String("50m"), "memory": pulumi.String(half.Quantity())},
		Limits:   pulumi.StringMap{"memory": pulumi.String(memory.Quantity())},
	}
}

func readiness(w platform.Workload) *corev1.ProbeArgs {
	p := workloadconfig.ProbeOf(w)
	scheme := map[string]string{"http": "HTTP", "https": "HTTPS"}[p.Scheme]
	return &corev1.ProbeArgs{
		HttpGet:       &corev1.HTTPGetActionArgs{Path: pulumi.String(p.Path), Port: pulumi.Int(int(p.Port)), Scheme: pulumi.String(scheme)},
		PeriodSeconds: pulumi.Int(5), TimeoutSeconds: pulumi.Int(3), FailureThreshold: pulumi.Int(3),
	}
}

// liveness asks only whether the server listens: one that is not ready because
// S3 is away gets no better by a restart. Two minutes for the first start.
func (u unit) liveness() *corev1.ProbeArgs {
	return &corev1.ProbeArgs{
		TcpSocket:           &corev1.TCPSocketActionArgs{Port: pulumi.Int(int(u.ports[0].number))},
		InitialDelaySeconds: pulumi.Int(120), PeriodSeconds: pulumi.Int(20), TimeoutSeconds: pulumi.Int(3), FailureThreshold: pulumi.Int(3),
	}
}

func (u unit) containerPorts() corev1.ContainerPortArray {
	var out corev1.ContainerPortArray
	for _, p := range u.ports {
		out = append(out, corev1.ContainerPortArgs{Name: pulumi.String(p.name), ContainerPort: pulumi.Int(int(p.number))})
	}
	return out
}

// secretVolume shows some keys of a Secret as files.
func secretVolume(name pulumi.StringInput, keys ...string) corev1.VolumeArgs {
	var items corev1.KeyToPathArray
	for _, k := range keys {
		items = append(items, corev1.KeyToPathArgs{Key: pulumi.String(k), Path: pulumi.String(k)})
	}
	return corev1.VolumeArgs{Secret: &corev1.SecretVolumeSourceArgs{SecretName: name.ToStringOutput().ToStringPtrOutput(), Items: items}}
}

func literal(name string, value pulumi.StringInput) corev1.EnvVarArgs {
	return corev1.EnvVarArgs{Name: pulumi.String(name), Value: value.ToStringOutput().ToStringPtrOutput()}
}

func fromSecret(variable string, secret pulumi.StringInput, key string) corev1.EnvVarArgs {
	return corev1.EnvVarArgs{Name: pulumi.String(variable), ValueFrom: &corev1.EnvVarSourceArgs{
		SecretKeyRef: &corev1.SecretKeySelectorArgs{Name: secret.ToStringOutput().ToStringPtrOutput(), Key: pulumi.String(key)},
	}}
}

// gibibytes writes a volume's size.
func gibibytes(n int) string { return fmt.Sprintf("%dGi", n) }
