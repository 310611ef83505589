package workloads_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/components/workloads"
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

// The tools read the same tables, with a role of their own. The profiler's own program reads
// their options; what they need to serve is in files.
func TestToolsServeTheProfilersTables(t *testing.T) {
	var url, token pulumi.StringOutput
	rec := record(t, sampleArgs(), func(ctx *pulumi.Context, w *workloads.Workloads) {
		url, token = w.ToolsURL, w.ToolsToken
		ctx.Export("url", url)
		ctx.Export("token", token)
	})
	require.True(t, pulumi.IsSecret(token))
	require.Equal(t, "https://10.0.0.5:8070/mcp", await(t, url))
	pod := pods(t, rec)[platform.WorkloadTools].Spec
	main := pod.Containers[0]
	require.Equal(t, []string{"/opt/bin/observatory-profiler"}, main.Command)
	require.Equal(t, []string{
		"tools", "--config=/etc/observatory/tools.yaml", "--tools-address=0.0.0.0:8070", "--token-file=/etc/observatory-access/password",
		"--certificate-file=/etc/observatory-access/tls.crt", "--key-file=/etc/observatory-access/tls.key",
	}, main.Args)
	require.Contains(t, main.Env, corev1.EnvVar{Name: "AWS_CONFIG_FILE", Value: "/etc/observatory/aws-config"})
	require.Equal(t, corev1.URISchemeHTTPS, main.ReadinessProbe.HTTPGet.Scheme)

	var config corev1.ConfigMap
	decodeObject(t, rec, "kubernetes:core/v1:ConfigMap", "workloads-tools-config", &config)
	dir := t.TempDir()
	for name, body := range config.Data {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600))
	}
	set := pflag.NewFlagSet("tools", pflag.ContinueOnError)
	flags := run.AddFlags(set, append(run.Table(), run.ToolOptions()...))
	args := slices.Clone(main.Args[1:])
	args[0] = "--config=" + filepath.Join(dir, workloadconfig.ToolsFile)
	require.NoError(t, set.Parse(args))
	options, err := flags.Resolve(func(string) (string, bool) { return "", false })
	require.NoError(t, err)
	require.Equal(t, "s3://data-123/lake/history/", options.S3OutputPath)
	require.Equal(t, "eu-west-1", options.Region)
	require.Equal(t, "0.0.0.0:8070", options.Tools.Address)

	shared, err := awsconfig.LoadSharedConfigProfile(t.Context(), "default", func(o *awsconfig.LoadSharedConfigOptions) {
		o.ConfigFiles, o.CredentialsFiles = []string{filepath.Join(dir, workloadconfig.ToolsAWSFile)}, nil
	})
	require.NoError(t, err)
	require.Equal(t, "arn:aws:iam::123456789012:role/control-tools-role", shared.RoleARN)
	require.Equal(t, "Ec2InstanceMetadata", shared.CredentialSource)
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
	args.ProfilerBinaryURI, args.ProfilerBinarySHA256, args.ToolsRoleARN = nil, nil, nil
	require.NoError(t, args.Validate())
	rec := record(t, args, nil)
	for _, line := range rec.List() {
		require.NotContains(t, line, "profiler")
		require.NotContains(t, line, "tools")
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
	for _, path := range []string{"workloads.profilerBinaryUri", "workloads.profilerBinarySha256", "workloads.toolsRoleArn",
		"workloads.profiler.maxClusters"} {
		require.ErrorContains(t, err, path+":")
	}
	require.Equal(t, 4, strings.Count(err.Error(), "\n")+1)
}
