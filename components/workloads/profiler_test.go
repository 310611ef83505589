package workloads_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/status"
)

// profilerOptions returns what the profiler itself reads of its configuration.
func profilerOptions(t *testing.T, rec *recorder.Recording) run.Options {
	t.Helper()
	var config corev1.ConfigMap
	decodeObject(t, rec, "kubernetes:core/v1:ConfigMap", "workloads-profiler-config", &config)
	file := filepath.Join(t.TempDir(), workloadconfig.ProfilerFile)
	require.NoError(t, os.WriteFile(file, []byte(config.Data[workloadconfig.ProfilerFile]), 0o600))
	set := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	flags := run.AddFlags(set, run.Table())
	require.NoError(t, set.Parse([]string{"--config=" + file}))
	// Without what cluster-config has in the environment: names there are in upper case.
	options, err := flags.Resolve(func(string) (string, bool) { return "", false })
	require.NoError(t, err)
	return options
}

// The profiler itself reads what the program writes.
func TestProfilerLoadsItsConfiguration(t *testing.T) {
	args := sampleArgs()
	args.Profiler.NameFilter, args.Profiler.IncludeTasks, args.Profiler.IntervalMinutes = "etl: 'nightly'", true, 45
	args.Profiler.RetentionDays = 400
	rec := record(t, args, nil)
	var deployment appsv1.Deployment
	decodeObject(t, rec, "kubernetes:apps/v1:Deployment", "workloads-profiler", &deployment)
	main := deployment.Spec.Template.Spec.Containers[0]
	require.Equal(t, []string{"/opt/bin/observatory-profiler"}, main.Command)
	require.Equal(t, []string{
		"serve", "--config=" + workloadconfig.ConfigDir + "/profiler.yaml", "--listen-address=0.0.0.0:4322", "--interval-minutes=45",
		"--password-file=/etc/observatory-access/password",
	},
		main.Args)
	require.Contains(t, main.VolumeMounts, corev1.VolumeMount{Name: "access", MountPath: "/etc/observatory-access", ReadOnly: true})
	access := deployment.Spec.Template.Spec.Volumes[slices.IndexFunc(deployment.Spec.Template.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Name == "access"
	})]
	require.Equal(t, platform.AccessSecret(platform.WorkloadStatus), access.Secret.SecretName)
	require.Equal(t, []corev1.KeyToPath{{Key: platform.AccessPassword, Path: platform.AccessPassword}}, access.Secret.Items, "not its TLS key")
	fetch := deployment.Spec.Template.Spec.InitContainers[0]
	require.Equal(t, "s3://data-123/artifacts/"+hash+"/observatory-profiler", fetch.Env[0].Value)
	require.Equal(t, "/opt/bin/observatory-profiler", fetch.Env[2].Value)

	options := profilerOptions(t, rec)
	require.Equal(t, "eu-west-1", options.Region)
	require.Equal(t, "s3://data-123/lake/history/", options.S3OutputPath)
	require.Equal(t, "etl: 'nightly'", options.NameFilter)
	require.Equal(t, args.Profiler.MaxClusters, options.MaxClusters)
	require.Equal(t, 400, options.RetentionDays)
	require.True(t, options.IncludeTasks)
	require.Equal(t, platform.StackTags("test"), options.Tags)
	require.Equal(t, 90, options.MaxUIs, "of the account's 200")
	var states []string
	for _, state := range options.States {
		states = append(states, string(state))
		require.Contains(t, types.ClusterState("").Values(), state, "a state of EMR's")
	}
	require.Equal(t, args.Profiler.ClusterStates, states)
}

// The profiler and the status page, which says whose history is not read, have the same tags.
func TestScopeOfTheProfiler(t *testing.T) {
	for scope, tags := range map[string]map[string]string{schema.ScopeStack: platform.StackTags("test"), schema.ScopeAccount: nil} {
		args := sampleArgs()
		args.Profiler.Scope = scope
		rec := record(t, args, nil)
		require.Equal(t, tags, profilerOptions(t, rec).Tags, scope)
		var config corev1.ConfigMap
		decodeObject(t, rec, "kubernetes:core/v1:ConfigMap", "workloads-status-config", &config)
		var page status.Config
		require.NoError(t, json.Unmarshal([]byte(config.Data[workloadconfig.StatusFile]), &page))
		require.Equal(t, tags, page.HistoryTags, scope)
	}
}

func TestNoProfilerIfItIsSwitchedOff(t *testing.T) {
	args := sampleArgs()
	args.Profiler = schema.Profiler{}
	args.ProfilerBinaryURI, args.ProfilerBinarySHA256 = nil, nil
	require.NoError(t, args.Validate())
	rec := record(t, args, nil)
	for _, line := range rec.List() {
		require.NotContains(t, line, "profiler")
	}
	for _, r := range rec.OfType("kubernetes:core/v1:ConfigMap") {
		var config corev1.ConfigMap
		decodeInputs(t, r, &config)
		for name, body := range config.Data {
			require.NotContains(t, body, "profiler:", "%s of %s", name, config.Name)
		}
	}
	require.NotContains(t, metadataReaders(t, rec), platform.WorkloadProfiler)

	args.Profiler = schema.Defaults().Profiler
	args.Profiler.MaxClusters = 0
	err := args.Validate()
	for _, path := range []string{"workloads.profilerBinaryUri", "workloads.profilerBinarySha256", "workloads.profiler.maxClusters"} {
		require.ErrorContains(t, err, path+":")
	}
	require.Equal(t, 3, strings.Count(err.Error(), "\n")+1)
}
