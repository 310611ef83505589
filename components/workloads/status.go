package workloads

import (
	"encoding/json"
	"fmt"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

const (
	statusFile = "status.json"
	binaryDir  = "/opt/bin"
	binaryName = "observatory"
)

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

// statusConfig is what the status server reports and whom it asks.
func (b *builder) statusConfig() pulumi.StringOutput {
	return pulumi.All(b.args.Bucket, b.args.ControlPrivateIP).ApplyT(func(v []any) (string, error) {
		return renderStatus(v[0].(string), v[1].(string))
	}).(pulumi.StringOutput)
}

func renderStatus(bucket, ip string) (string, error) {
	config := status.Config{S3Paths: platform.NewS3Paths(bucket), Endpoints: map[platform.Workload]status.Endpoint{}, Control: status.Control{
		PrivateIP: ip, OTLP: fmt.Sprintf("%s:%d", ip, platform.OTLPGRPC),
		GrafanaURL: workloadconfig.URLAt(ip, platform.WorkloadGrafana), StatusURL: workloadconfig.URLAt(ip, platform.WorkloadStatus),
	}}
	ready := workloadconfig.ReadyURLs()
	for workload, url := range workloadconfig.URLs() {
		config.Endpoints[workload] = status.Endpoint{URL: url, ReadyURL: ready[workload]}
	}
	if err := config.Validate(); err != nil {
		return "", wrap(statusFile, err)
	}
	out, err := json.MarshalIndent(config, "", "  ")
	return string(out), wrap(statusFile, err)
}
