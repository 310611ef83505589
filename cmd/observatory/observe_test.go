package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/observe/check"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

func stackOutputs() outputs.Outputs {
	return outputs.Outputs{
		SchemaVersion: outputs.SchemaVersion, DataBucket: "bucket", S3Paths: platform.NewS3Paths("bucket"),
		KMSKeyARN: "arn:aws:kms:us-east-1:123456789012:key/k", ControlInstanceID: "i-0123", ControlVolumeID: "vol-0123",
		ControlPrivateIP: "10.0.0.5",
		Network:          outputs.Network{VPCID: "vpc-1", SubnetIDs: []string{"subnet-1"}},
		Clusters:         map[string]outputs.Cluster{},
		Observe: observe.Settings{
			SecurityGroupID: "sg-observed", NodePolicyARN: "arn:aws:iam::123456789012:policy/observed",
			Bootstrap: observe.Bootstrap{
				Path: "s3://bucket/artifacts/ab/bootstrap.sh", Args: []string{"10.0.0.5", "s3://bucket/artifacts/", "ab"}, Hash: "ab",
			},
			Configurations: observe.Configurations("1", nil), Tags: platform.StackTags("dev"),
		},
		GrafanaURL: "https://10.0.0.5:3000", Dashboards: map[string]string{}, StatusURL: "https://10.0.0.5:8080",
		CACertificate: "-----BEGIN CERTIFICATE-----", Endpoints: map[string]string{},
	}
}

// writeOutputs writes what `pulumi stack output --json` prints: secrets are hidden.
func writeOutputs(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		outputs.Observatory: stackOutputs(), outputs.Kubeconfig: "[secret]", outputs.GrafanaPassword: "[secret]",
		outputs.StatusPassword: "[secret]",
	})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "outputs.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return file
}

func TestObservePrint(t *testing.T) {
	file, dir := writeOutputs(t), t.TempDir()
	o := observatory(t, dir, nil, "observe", "print", "--for", "terraform", "--outputs", file)
	require.Zero(t, o.code, o.stderr)
	require.Contains(t, o.stdout, `additional_slave_security_groups  = "sg-observed"`)
	require.Regexp(t, `"observatory:stack" += "dev"`, o.stdout)

	own := filepath.Join(dir, "mine.json")
	require.NoError(t, os.WriteFile(own, []byte(
		`[{"Classification": "spark-defaults", "Properties": {"spark.driver.defaultJavaOptions": "-Xss8m", "a": "b"}}]`), 0o600))
	o = observatory(t, dir, nil, "observe", "print", "--for", "airflow", "--configurations", own, "--outputs", file, "--json")
	require.Zero(t, o.code, o.stderr)
	var printed struct {
		For, Text string
		Settings  observe.Settings
	}
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &printed))
	require.Equal(t, "airflow", printed.For)
	require.Contains(t, printed.Text, "-Xss8m "+observe.AgentFlag)
	require.Empty(t, observe.Lacks(printed.Settings.Configurations, stackOutputs().Observe.Configurations))
	require.Equal(t, "b", printed.Settings.Configurations[0].Properties["a"])

	for says, arguments := range map[string][]string{
		"must be one of terraform, cloudformation": {"--for", "ansible", "--outputs", file},
		"pass --outputs outputs.json":              {"--for", "cli", "--state", dir},
		"write it with `pulumi stack output obs":   {"--for", "cli", "--outputs", "none.json"},
		"output observatory.dataBucket: missing":   {"--for", "cli", "--outputs", own + ".empty"},
		"must be a list of":                        {"--for", "cli", "--outputs", file, "--configurations", file},
	} {
		require.NoError(t, os.WriteFile(own+".empty", []byte(`{}`), 0o600))
		o = observatory(t, root, nil, append([]string{"observe", "print"}, arguments...)...)
		require.Equal(t, 1, o.code, says)
		require.Contains(t, o.stderr, says)
	}
}

// A primary node alone has no core nodes that groups would be for.
func TestObserveCheckOfAPrimaryNodeAlone(t *testing.T) {
	groups, fleets := observedTeam(), observedTeam()
	groups.request.Instances.InstanceGroups = groups.request.Instances.InstanceGroups[:1]
	fleets.request.Instances.InstanceGroups = nil
	fleets.request.Instances.InstanceFleets = []types.InstanceFleetConfig{{
		InstanceFleetType: types.InstanceFleetTypeMaster, TargetOnDemandCapacity: aws.Int32(1),
		InstanceTypeConfigs: []types.InstanceTypeConfig{{InstanceType: aws.String("m5.xlarge")}},
	}}
	for name, c := range map[string]team{"group": groups, "fleet": fleets} {
		t.Run(name, func(t *testing.T) {
			c.request.Instances.AdditionalSlaveSecurityGroups = nil
			o := c.check(t)
			require.Zero(t, o.code, o.stdout+o.stderr)
		})
	}
}

// TestObserveCheck takes away one thing at a time: exactly that is named.
func TestObserveCheck(t *testing.T) {
	hostsOnly := observedTeam()
	hostsOnly.request.Applications, hostsOnly.request.Configurations = hostsOnly.request.Applications[:1], nil
	hostsOnly.script().Args = append(slices.Clone(hostsOnly.script().Args), "hostsOnly")
	o := hostsOnly.check(t)
	require.Zero(t, o.code, "without Spark by choice: "+o.stdout+o.stderr)
	o = observedTeam().check(t)
	require.Zero(t, o.code, o.stdout+o.stderr)
	require.Regexp(t, `^cluster j-\w+ \(nightly\), emr-6\.15\.0, STARTING\nnothing is missing\n$`, o.stdout)

	instances := func(c *team) *types.JobFlowInstancesConfig { return c.request.Instances }
	spark := func(of []types.Configuration) map[string]string { return of[0].Properties }
	for name, taken := range map[string]struct {
		away   func(*team)
		part   check.Part
		remedy string
	}{
		"primary group": {func(c *team) { instances(c).AdditionalMasterSecurityGroups = []string{"sg-1"} },
			check.PartPrimaryGroup, "add sg-observed to AdditionalMasterSecurityGroups"},
		"core group": {func(c *team) { instances(c).AdditionalSlaveSecurityGroups = nil },
			check.PartCoreGroup, "add sg-observed to AdditionalSlaveSecurityGroups"},
		"read access": {func(c *team) { c.account.denied = "s3:GetObject" },
			check.PartRole, "attach-role-policy --role-name team-nodes"},
		"decryption": {func(c *team) { c.account.denied = "kms:Decrypt" },
			check.PartRole, "--policy-arn arn:aws:iam::123456789012:policy/observed"},
		"bootstrap": {func(c *team) { c.request.BootstrapActions = c.request.BootstrapActions[:1] },
			check.PartBootstrap, "observatory observe print"},
		"bootstrap path": {func(c *team) { c.script().Path = aws.String("s3://team/bootstrap.sh") },
			check.PartBootstrapPath, "a copy is not updated"},
		"bootstrap hash": {func(c *team) {
			c.script().Path = aws.String("s3://bucket/artifacts/old/bootstrap.sh")
			c.script().Args = []string{"10.0.0.5", "s3://bucket/artifacts/", "old"}
		}, check.PartBootstrapHash, "another version of the platform"},
		"bootstrap arguments": {func(c *team) { c.script().Args = []string{"10.9.9.9", "s3://bucket/artifacts/", "ab"} },
			check.PartBootstrap, "observe print"},
		"classification": {func(c *team) { c.request.Configurations = slices.Delete(c.request.Configurations, 1, 2) },
			"core-site", "merges the list"},
		"agent of the driver": {func(c *team) { spark(c.request.Configurations)["spark.driver.defaultJavaOptions"] = "-Xss8m" },
			"spark-defaults", "without the agent Spark sends nothing"},
		"agent in a group": {func(c *team) {
			spark(instances(c).InstanceGroups[1].Configurations)["spark.executor.defaultJavaOptions"] = "-Xss8m"
		}, "spark-defaults of the CORE instance group", "add this to yours"},
		"agent in a fleet": {func(c *team) {
			fleet := func(kind types.InstanceFleetType) types.InstanceFleetConfig {
				return types.InstanceFleetConfig{
					InstanceFleetType: kind, TargetOnDemandCapacity: aws.Int32(1),
					InstanceTypeConfigs: []types.InstanceTypeConfig{{InstanceType: aws.String("m5.xlarge")}},
				}
			}
			core := fleet(types.InstanceFleetTypeCore)
			core.InstanceTypeConfigs[0].Configurations = configurations([]observe.Classification{
				{Classification: "spark-defaults", Properties: map[string]string{"spark.driver.defaultJavaOptions": "-Xss8m"}},
			})
			instances(c).InstanceGroups = nil
			instances(c).InstanceFleets = []types.InstanceFleetConfig{fleet(types.InstanceFleetTypeMaster), core}
		}, "spark-defaults of m5.xlarge in the CORE fleet", "add this to yours"},
		"VPC": {func(c *team) { c.account.vpc = "vpc-2" },
			check.PartRoute, "start the cluster in a subnet of vpc-1, such as subnet-1"},
		"route": {func(c *team) { c.account.state = "blackhole" }, check.PartRoute, "repair the subnet's route table"},
		"route by main": {func(c *team) { c.account.state, c.account.mainTable = "blackhole", true },
			check.PartRoute, "repair the subnet's route table"},
		"Spark": {func(c *team) { c.request.Applications = c.request.Applications[:1] },
			check.PartSpark, "only metrics and logs of the hosts"},
		"release": {func(c *team) { c.release = "emr-6.14.1" },
			check.PartRelease, "choose such a release"},
		"Spark's release": {func(c *team) { c.release = "emr-spark-8.0.0" },
			check.PartRelease, "choose such a release"},
		"tag": {func(c *team) { c.request.Tags[1].Value = aws.String("prod") },
			check.PartTags, " --tags observatory:stack=dev`, which a running cluster takes"},
		"right of IAM": {func(c *team) { c.account.failing = "SimulatePrincipalPolicy" },
			check.PartRole, "allow yourself iam:GetInstanceProfile"},
		"right of EC2": {func(c *team) { c.account.failing = "DescribeRouteTables" },
			check.PartRoute, "ec2:DescribeRouteTables"},
	} {
		t.Run(name, func(t *testing.T) {
			c := observedTeam()
			taken.away(&c)
			o := c.check(t, "--json")
			require.Equal(t, 1, o.code, o.stdout+o.stderr)
			var report check.Report
			require.NoError(t, json.Unmarshal([]byte(o.stdout), &report))
			require.Len(t, report.Misses, 1, o.stdout)
			require.Equal(t, taken.part, report.Misses[0].Part)
			require.Contains(t, report.Misses[0].Remedy, taken.remedy)
			require.NotEmpty(t, report.Misses[0].Found)
			require.NotEmpty(t, report.Misses[0].Rule)
		})
	}
}

// A running cluster takes tags, and has not to be started again for them.
func TestObserveCheckOfMissingTags(t *testing.T) {
	c := observedTeam()
	c.request.Tags = nil
	o := c.check(t)
	require.Equal(t, 1, o.code, o.stdout+o.stderr)
	require.Regexp(t, "remedy: run `aws emr add-tags --resource-id j-\\w+ --tags observatory:project=emr-observatory observatory:stack=dev`",
		o.stdout)
	require.NotContains(t, o.stdout, check.StartAgain)
}

// A cluster that nobody prepared lacks everything, and has to be started again.
func TestObserveCheckOfAnUnpreparedCluster(t *testing.T) {
	c := observedTeam()
	c.account.denied, c.request.Applications, c.request.Configurations, c.request.BootstrapActions = "s3:GetObject", nil, nil, nil
	c.request.ReleaseLabel, c.request.Instances.Ec2SubnetId = aws.String("emr-7.99.0"), aws.String("subnet-1")
	c.request.Instances.AdditionalMasterSecurityGroups, c.request.Instances.AdditionalSlaveSecurityGroups = nil, nil
	o := c.check(t)
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stdout, "A running cluster takes no bootstrap action")
	for _, part := range []check.Part{check.PartSpark, check.PartPrimaryGroup, check.PartCoreGroup, check.PartRole, check.PartBootstrap} {
		require.Contains(t, o.stdout, "\n  "+string(part)+"\n    found: ")
	}
	require.NotContains(t, o.stdout, string(check.PartRoute), "the platform's own subnet")
	require.NotContains(t, o.stdout, "  "+string(check.PartRelease), "newer than the file of releases")
	require.NotContains(t, o.stdout, "spark-defaults", "without Spark it means nothing")

	o = observatory(t, t.TempDir(), nil, "observe", "check", "00fabcdef", "--outputs", writeOutputs(t))
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "EMR Serverless and EMR on EKS have no nodes")
}
