package workloads_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/components/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// copiedArgs have a second destination of traces.
func copiedArgs(headersParameter string) *workloads.Args {
	args := sampleArgs()
	args.Tracing.SetDefaults()
	args.Tracing.Endpoint, args.Tracing.HeadersParameter = "otlp.example.com:4317", headersParameter
	return args
}

// The headers reach the collector through its pod's memory: the program knows only the
// parameter's name. Only a collector that reads them has the node's role.
func TestTheCollectorReadsItsHeadersBeforeItStarts(t *testing.T) {
	rec := record(t, copiedArgs("/team/trace-headers"), nil)
	var set appsv1.DaemonSet
	decodeObject(t, rec, "kubernetes:apps/v1:DaemonSet", "workloads-collector", &set)
	pod := set.Spec.Template.Spec
	require.Len(t, pod.InitContainers, 1)
	prepare := pod.InitContainers[0]
	require.Equal(t, platform.ImageAWSCLI().Ref(), prepare.Image)
	require.Contains(t, prepare.Env, corev1.EnvVar{Name: "PARAMETER", Value: "/team/trace-headers"})
	require.Equal(t, "/bin/sh", prepare.Command[0])
	require.NotContains(t, prepare.Command[2], "$$", "Kubernetes makes one $ of it")
	require.Contains(t, prepare.VolumeMounts, corev1.VolumeMount{Name: "prepared", MountPath: workloadconfig.PreparedDir})
	main := pod.Containers[0]
	require.Contains(t, main.VolumeMounts, corev1.VolumeMount{Name: "prepared", MountPath: workloadconfig.PreparedDir, ReadOnly: true})
	require.Contains(t, main.Args, "--config="+workloadconfig.PreparedDir+"/traceheaders.yaml")
	at := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == "prepared" })
	require.Equal(t, corev1.StorageMediumMemory, pod.Volumes[at].EmptyDir.Medium)
	require.Contains(t, metadataReaders(t, rec), platform.WorkloadCollector)
}

func TestACopyWithoutHeadersNeedsNoRole(t *testing.T) {
	rec := record(t, copiedArgs(""), nil)
	var set appsv1.DaemonSet
	decodeObject(t, rec, "kubernetes:apps/v1:DaemonSet", "workloads-collector", &set)
	require.Empty(t, set.Spec.Template.Spec.InitContainers)
	require.Equal(t, metadataUsers(), metadataReaders(t, rec))
}

func TestInvalidTracesAreRefused(t *testing.T) {
	args := copiedArgs("no-path")
	args.Tracing.SamplingRatio = 2
	err := args.Validate()
	require.ErrorContains(t, err, "workloads.tracing.headersParameter: ")
	require.ErrorContains(t, err, "workloads.tracing.samplingRatio: ")
	args.Tracing = schema.Tracing{}
	require.NoError(t, args.Validate())
}
