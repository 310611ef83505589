package workloads

import (
	"maps"
	"path"
	"slices"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
)

const binaryDir = "/opt/bin"

// binarySource is where one of the project's own binaries is fetched from.
type binarySource struct {
	uri    pulumi.StringInput // s3://
	sha256 pulumi.StringInput // hex
}

// command replaces the image's entrypoint; nil keeps it.
func (p podValues) command() []string {
	if p.OwnBinary == "" {
		return nil
	}
	return []string{p.binaryPath()}
}

func (p podValues) binaryPath() string { return path.Join(binaryDir, string(p.OwnBinary)) }

// fetchScript downloads the binary and verifies its checksum.
const fetchScript = `aws s3 cp --only-show-errors "$BINARY_URI" "$BINARY.part"
echo "$BINARY_SHA256  $BINARY.part" | sha256sum -c -
chmod 0755 "$BINARY.part"
mv "$BINARY.part" "$BINARY"`

// initContainers fetch the project's own binary from the data bucket and verify
// it, where the workload runs it, and run the workload's preparation.
func (p podValues) initContainers() corev1.ContainerArray {
	var out corev1.ContainerArray
	if p.OwnBinary != "" {
		out = append(out, p.initContainer("fetch", fetchScript, volumeBinary, binaryDir, corev1.EnvVarArray{
			envVar("BINARY_URI", p.binary.uri), envVar("BINARY_SHA256", p.binary.sha256),
			envVar("BINARY", pulumi.String(p.binaryPath())),
		}))
	}
	if prepare := p.config.Preparation; prepare != nil {
		var env corev1.EnvVarArray
		for _, name := range slices.Sorted(maps.Keys(prepare.Env)) {
			env = append(env, envVar(name, pulumi.String(prepare.Env[name])))
		}
		out = append(out, p.initContainer(prepare.Name, prepare.Script, volumePrepared, workloadconfig.PreparedDir, env))
	}
	return out
}

// initContainer runs a script that uses the AWS CLI and writes to one of the pod's
// volumes.
func (p podValues) initContainer(name, script, volume, dir string, env corev1.EnvVarArray) corev1.ContainerArgs {
	return corev1.ContainerArgs{
		Name:    pulumi.String(name),
		Image:   pulumi.String(platform.ImageAWSCLI().Ref()),
		Command: pulumi.ToStringArray([]string{"/bin/sh", "-euc", script}),
		EnvFrom: envFrom(p.environment),
		Env:     append(env, envVar("HOME", pulumi.String("/tmp"))), // the AWS CLI's cache
		VolumeMounts: corev1.VolumeMountArray{
			corev1.VolumeMountArgs{Name: pulumi.String(volume), MountPath: pulumi.String(dir)},
			corev1.VolumeMountArgs{Name: pulumi.String(volumeTemp), MountPath: pulumi.String("/tmp")},
		},
		// The AWS CLI needs some 150 MiB, once.
		Resources: &corev1.ResourceRequirementsArgs{
			Requests: pulumi.StringMap{"cpu": pulumi.String("50m"), "memory": pulumi.String("128Mi")},
			Limits:   pulumi.StringMap{"memory": pulumi.String("512Mi")},
		},
		SecurityContext: unprivilegedContext(),
	}
}
