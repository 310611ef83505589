package workloads

import (
	"path"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	binaryDir  = "/opt/bin"
	binaryName = "observatory"
)

// own has a unit run the project's own binary, which an init container fetches:
// it is in no image.
func (b *builder) own(u unit) unit {
	u.role, u.user = true, userServer
	u.command = []string{path.Join(binaryDir, binaryName)}
	u.hash = b.args.ControlBinarySHA256
	u.init = b.fetchBinary()
	u.mount("bin", binaryDir, true, emptyDir())
	return u
}

// fetchScript takes only what it was promised.
const fetchScript = `aws s3 cp --only-show-errors "$BINARY_URI" "$BINARY.part"
echo "$BINARY_SHA256  $BINARY.part" | sha256sum -c -
chmod 0755 "$BINARY.part"
mv "$BINARY.part" "$BINARY"`

func emptyDir() corev1.VolumeArgs {
	return corev1.VolumeArgs{EmptyDir: &corev1.EmptyDirVolumeSourceArgs{}}
}

// fetchBinary is the init container that brings the binary from the data
// bucket and verifies it.
func (b *builder) fetchBinary() corev1.ContainerArray {
	return corev1.ContainerArray{corev1.ContainerArgs{
		Name:    pulumi.String("fetch"),
		Image:   pulumi.String(platform.ImageAWSCLI.Ref()),
		Command: pulumi.ToStringArray([]string{"/bin/sh", "-euc", fetchScript}),
		EnvFrom: b.envFrom(),
		Env: corev1.EnvVarArray{
			literal("BINARY_URI", b.args.ControlBinaryURI), literal("BINARY_SHA256", b.args.ControlBinarySHA256),
			literal("BINARY", pulumi.String(binaryDir+"/"+binaryName)),
			literal("HOME", pulumi.String("/tmp")), // where the AWS CLI writes its cache
		},
		VolumeMounts: corev1.VolumeMountArray{
			corev1.VolumeMountArgs{Name: pulumi.String("bin"), MountPath: pulumi.String(binaryDir)},
			corev1.VolumeMountArgs{Name: pulumi.String("tmp"), MountPath: pulumi.String("/tmp")},
		},
		Resources:       fetchResources(),
		SecurityContext: unprivileged(),
	}}
}

// fetchResources: the AWS CLI needs some 150 MiB, once.
func fetchResources() *corev1.ResourceRequirementsArgs {
	return &corev1.ResourceRequirementsArgs{
		Requests: pulumi.StringMap{"cpu": pulumi.String("50m"), "memory": pulumi.String("128Mi")},
		Limits:   pulumi.StringMap{"memory": pulumi.String("512Mi")},
	}
}
