package stacks_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/stacks"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

func TestMissingMaterialsErrorNamesTheCommand(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv(stacks.BinaryEnv, filepath.Join(t.TempDir(), "absent"))
	t.Setenv(stacks.ProfilerBinaryEnv, filepath.Join(t.TempDir(), "absent"))
	rec, err := recorder.Run(stacks.Program, append(trial.Answers(), recorder.WithConfig(trial.Values(t, "local")))...)
	require.ErrorContains(t, err, "make artifacts")
	require.ErrorContains(t, err, stacks.BinaryEnv)
	require.ErrorContains(t, err, stacks.ProfilerBinaryEnv)
	for _, a := range trial.Locked(t) {
		if a.Arch == platform.ArchARM64 { // the local stack has no such node
			require.NotContains(t, err.Error(), a.Name)
			continue
		}
		require.ErrorContains(t, err, a.Name)
	}
	require.Empty(t, rec.Resources)
}

// What `pulumi up` runs asks for the collector's release build, the local cloud's
// engine for the development build. Neither takes the other's.
func TestTheEngineChoosesTheBuild(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	sums := map[artifacts.Build]string{}
	for _, build := range []artifacts.Build{artifacts.Release, artifacts.Development} {
		locked, err := artifacts.LockedFor(build, []string{platform.ArchAMD64})
		require.NoError(t, err)
		i := slices.IndexFunc(locked, func(a artifacts.Artifact) bool { return a.Build == build })
		require.GreaterOrEqual(t, i, 0)
		sums[build] = locked[i].SHA256
	}
	for _, c := range []struct {
		program      pulumi.RunFunc
		build, other artifacts.Build
		remedy       string
	}{
		{stacks.Program, artifacts.Release, artifacts.Development, "make artifacts"},
		{stacks.ProgramOf(trial.Root(t), artifacts.Development), artifacts.Development, artifacts.Release, "make tools"},
	} {
		_, err := recorder.Run(c.program, append(trial.Answers(), recorder.WithConfig(trial.Values(t, "local")))...)
		require.ErrorContains(t, err, sums[c.build])
		require.ErrorContains(t, err, c.remedy)
		require.NotContains(t, err.Error(), sums[c.other])
	}
}

func TestInvalidConfigurationRegistersNothing(t *testing.T) {
	rec, err := recorder.Run(stacks.Program, append(trial.Answers(), recorder.WithConfig(map[string]string{
		platform.Project + ":region": "moon", platform.Project + ":retention": `{"tempoDays":0}`,
	}))...)
	require.ErrorContains(t, err, platform.Project+":region")
	require.ErrorContains(t, err, platform.Project+":retention.tempoDays")
	require.Empty(t, rec.Resources)
}

// Violations that only a component detects are also reported before the first
// resource, for all components at once.
func TestComponentArgumentsAreValidatedFirst(t *testing.T) {
	cfg := parseConfig(t, nil)
	cfg.Network.NAT = false
	cluster := cfg.Clusters["main"]
	cluster.Core.EBS = []schema.Volume{{Type: "gp3", SizeGiB: 10, IOPS: 6000, PerInstance: 1}}
	cfg.Clusters["main"] = cluster
	rec, err := recorder.Run(func(ctx *pulumi.Context) error { return stacks.Build(ctx, cfg, trial.Materials(t)) }, trial.Answers()...)
	require.ErrorContains(t, err, "network.nat")
	require.ErrorContains(t, err, "clusters.main.core.ebs[0].iops")
	require.Empty(t, rec.Resources)
}

// parseConfig returns the configuration with these values and a region.
func parseConfig(t *testing.T, values map[string]string) schema.Config {
	t.Helper()
	all := map[string]string{"region": "us-east-1", "clusters": `{"main":{}}`}
	for k, v := range values {
		all[k] = v
	}
	cfg, err := config.Parse(all)
	require.NoError(t, err)
	return cfg
}

// Extreme values that the configuration accepts are also accepted by the
// components.
func TestExtremeConfigurationsBuild(t *testing.T) {
	m := trial.Materials(t)
	for name, values := range map[string]map[string]string{
		"defaults":         {},
		"smallest network": {"network": `{"cidr":"192.168.4.0/24"}`},
		"existing network": {"network": `{"vpcId":"vpc-0123abcd","subnetIds":["subnet-0123abcd","subnet-0123abcf"]}`},
		"endpoints":        {"network": `{"interfaceEndpoints":["kms","ssm","ssmmessages"]}`},
		"graviton":         {"controlNode": `{"instanceType":"m7g.large","arch":"arm64","dataVolumeGiB":20,"privateIp":"10.0.0.20"}`},
		"largest disk":     {"controlNode": `{"dataVolumeGiB":16384}`},
		"oldest release":   {"clusters": `{"main":{"releaseLabel":"emr-6.15.0","idleTimeoutMinutes":1}}`},
		"longest idle":     {"clusters": `{"main":{"idleTimeoutMinutes":10080,"terminationProtection":true}}`},
		"never idle":       {"clusters": `{"main":{"idleTimeoutMinutes":0}}`},
		"three masters":    {"clusters": `{"main":{"master":{"count":3}}}`},
		"spot in ephemeral": {"ephemeral": "true",
			"clusters": `{"main":{"master":{"bidPrice":"0.1"},"core":{"bidPrice":"0.1"},"tasks":{"spot":{"count":5,"bidPrice":"0.05"}}}}`},
		"volumes": {"clusters": `{"main":{"core":{"ebs":[{"sizeGiB":10},{"type":"st1","sizeGiB":125},` +
			`{"type":"io1","sizeGiB":100,"iops":100},{"type":"gp3","sizeGiB":500,"iops":16000,"throughput":1000}]}}}`},
		"spark properties": {"clusters": `{"main":{"sparkDefaults":{"spark.executor.extraJavaOptions":"-Xss4m",` +
			`"spark.hadoop.fs.s3a.aws.credentials.provider":"x"}}}`},
		"short retention":   {"retention": `{"tempoDays":1,"pyroscopeDays":1,"logDays":1,"artifactDays":1}`},
		"long retention":    {"retention": `{"tempoDays":3650,"pyroscopeDays":3650,"logDays":3650,"artifactDays":0}`},
		"most tags":         {"tags": `{"a":"","b":"","c":"","d":"","e":"","f":"","g":"","h":""}`},
		"operators":         {"operatorCidrs": `["203.0.113.0/24","198.51.100.7/32","2001:db8::/32"]`},
		"AWS endpoints":     {"awsEndpoints": `{"s3":"https://s3.example.org:9000","sts":"http://sts.example.org"}`},
		"tunnel to Grafana": {"grafana": `{"url":"https://127.0.0.1:3000"}`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := parseConfig(t, values)
			_, err := recorder.Run(func(ctx *pulumi.Context) error { return stacks.Build(ctx, cfg, m) }, trial.Answers()...)
			require.NoError(t, err)
		})
	}
}
