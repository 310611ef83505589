package main_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
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
			Configurations: observe.Configurations("1", nil),
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
		"write it with `pulumi stack output --":    {"--for", "cli", "--outputs", "none.json"},
		"output observatory: missing":              {"--for", "cli", "--outputs", own + ".empty"},
		"must be a list of":                        {"--for", "cli", "--outputs", file, "--configurations", file},
	} {
		require.NoError(t, os.WriteFile(own+".empty", []byte(`{}`), 0o600))
		o = observatory(t, root, nil, append([]string{"observe", "print"}, arguments...)...)
		require.Equal(t, 1, o.code, says)
		require.Contains(t, o.stderr, says)
	}
}

// account is a fake of IAM and EC2, which the local cloud does not have. It answers in
// the forms of their API references, about one role, one foreign subnet and its routes.
type account struct {
	denied    string // an action that the role is not allowed
	vpc       string // of subnet-2
	state     string // of the route to the control node, in the subnet's own table
	mainTable bool   // the subnet has none of its own
	failing   string // an action that the caller is not allowed
}

func (a account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	action, form := r.PostForm.Get("Action"), r.PostForm
	switch {
	case action == a.failing:
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>not authorized</Message></Error></ErrorResponse>`)
	case action == "GetInstanceProfile" && form.Get("InstanceProfileName") == "team":
		fmt.Fprint(w, `<GetInstanceProfileResponse><GetInstanceProfileResult><InstanceProfile><Roles><member>`+
			`<RoleName>team-nodes</RoleName><Arn>arn:aws:iam::123456789012:role/team-nodes</Arn></member></Roles></InstanceProfile>`+
			`</GetInstanceProfileResult></GetInstanceProfileResponse>`)
	case action == "SimulatePrincipalPolicy" && form.Get("PolicySourceArn") == "arn:aws:iam::123456789012:role/team-nodes":
		asked := form.Get("ActionNames.member.1")
		right := map[string]string{
			"s3:GetObject": "arn:aws:s3:::bucket/artifacts/ab/bootstrap.sh", "kms:Decrypt": "arn:aws:kms:us-east-1:123456789012:key/k",
		}[asked]
		decision := "implicitDeny"
		if asked != a.denied && form.Get("ResourceArns.member.1") == right {
			decision = "allowed"
		}
		fmt.Fprintf(w, `<SimulatePrincipalPolicyResponse><SimulatePrincipalPolicyResult><EvaluationResults><member><EvalActionName>%s`+
			`</EvalActionName><EvalDecision>%s</EvalDecision></member></EvaluationResults></SimulatePrincipalPolicyResult>`+
			`</SimulatePrincipalPolicyResponse>`, asked, decision)
	case action == "DescribeSubnets":
		fmt.Fprintf(w, `<DescribeSubnetsResponse><subnetSet><item><subnetId>%s</subnetId><vpcId>%s</vpcId></item></subnetSet>`+
			`</DescribeSubnetsResponse>`, form.Get("SubnetId.1"), a.vpc)
	case action == "DescribeRouteTables" && (form.Get("Filter.1.Name") == "association.subnet-id") == a.mainTable:
		fmt.Fprint(w, `<DescribeRouteTablesResponse><routeTableSet/></DescribeRouteTablesResponse>`)
	case action == "DescribeRouteTables":
		fmt.Fprintf(w, `<DescribeRouteTablesResponse><routeTableSet><item><routeSet>`+
			`<item><destinationCidrBlock>0.0.0.0/0</destinationCidrBlock><state>active</state></item>`+
			`<item><destinationCidrBlock>10.0.0.0/24</destinationCidrBlock><state>%s</state></item>`+
			`<item><destinationCidrBlock>10.0.0.0/16</destinationCidrBlock><state>active</state></item>`+
			`</routeSet></item></routeTableSet></DescribeRouteTablesResponse>`, a.state)
	default:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `<ErrorResponse><Error><Code>InvalidAction</Code><Message>%s</Message></Error></ErrorResponse>`, action)
	}
}

// team is a cluster that others started, with the account that it is in.
type team struct {
	cluster types.Cluster
	groups  []types.InstanceGroup
	actions []types.Command
	account account
}

// observedTeam lacks nothing. Its configurations are its own with the platform's.
func observedTeam() team {
	var convert func([]observe.Classification) []types.Configuration
	convert = func(list []observe.Classification) []types.Configuration {
		var out []types.Configuration
		for _, c := range list {
			out = append(out, types.Configuration{
				Classification: aws.String(c.Classification), Properties: c.Properties, Configurations: convert(c.Configurations),
			})
		}
		return out
	}
	s := stackOutputs().Observe
	return team{
		cluster: types.Cluster{
			Name: aws.String("nightly"), ReleaseLabel: aws.String("emr-6.15.0"),
			Applications: []types.Application{{Name: aws.String("Hadoop")}, {Name: aws.String("Spark")}},
			Configurations: convert(observe.Merge([]observe.Classification{
				{Classification: "spark-defaults", Properties: map[string]string{"spark.driver.defaultJavaOptions": "-Xss8m"}},
			}, s.Configurations)),
			Ec2InstanceAttributes: &types.Ec2InstanceAttributes{
				IamInstanceProfile: aws.String("arn:aws:iam::123456789012:instance-profile/team"), Ec2SubnetId: aws.String("subnet-2"),
				AdditionalMasterSecurityGroups: []string{"sg-1", s.SecurityGroupID}, AdditionalSlaveSecurityGroups: []string{s.SecurityGroupID},
			},
		},
		groups: []types.InstanceGroup{{
			Id: aws.String("ig-1"), InstanceGroupType: types.InstanceGroupTypeMaster, InstanceType: aws.String("m5.xlarge"),
			Configurations: convert([]observe.Classification{{Classification: "spark-defaults", Properties: map[string]string{"a": "b"}}}),
		}},
		actions: []types.Command{
			{Name: aws.String("team"), ScriptPath: aws.String("s3://team/setup.sh")},
			{Name: aws.String("observatory"), ScriptPath: &s.Bootstrap.Path, Args: s.Bootstrap.Args},
		},
		account: account{vpc: "vpc-1", state: "active"},
	}
}

// check runs `observe check` on the cluster, in EMR's API of the local cloud.
func (c team) check(t *testing.T, arguments ...string) outcome {
	t.Helper()
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	server, err := emrapi.New(store, noNodes{}, noNodes{}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	emr, others := httptest.NewServer(server), httptest.NewServer(c.account)
	t.Cleanup(func() { emr.Close(); others.Close(); server.Close() })
	id := emrapi.NewID("j")
	c.cluster.Id = &id
	require.NoError(t, store.PutCluster(c.cluster, c.groups, c.actions))
	return observatory(t, t.TempDir(), []string{
		"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local-secret", "AWS_MAX_ATTEMPTS=1",
		"AWS_ENDPOINT_URL_EMR=" + emr.URL, "AWS_ENDPOINT_URL_IAM=" + others.URL, "AWS_ENDPOINT_URL_EC2=" + others.URL,
	}, append([]string{"observe", "check", id, "--outputs", writeOutputs(t)}, arguments...)...)
}

// TestObserveCheck takes away one thing at a time: exactly that is named.
func TestObserveCheck(t *testing.T) {
	o := observedTeam().check(t)
	require.Zero(t, o.code, o.stdout+o.stderr)
	require.Regexp(t, `^cluster j-\w+ \(nightly\), emr-6\.15\.0, STARTING\nnothing is missing\n$`, o.stdout)

	attributes := func(c *team) *types.Ec2InstanceAttributes { return c.cluster.Ec2InstanceAttributes }
	spark := func(c *team) map[string]string { return c.cluster.Configurations[0].Properties }
	for name, taken := range map[string]struct {
		away   func(*team)
		part   check.Part
		remedy string
	}{
		"primary group":  {func(c *team) { attributes(c).AdditionalMasterSecurityGroups = []string{"sg-1"} }, check.PartPrimaryGroup, "sg-observed"},
		"core group":     {func(c *team) { attributes(c).AdditionalSlaveSecurityGroups = nil }, check.PartCoreGroup, "AdditionalSlaveSecurityGroups"},
		"read access":    {func(c *team) { c.account.denied = "s3:GetObject" }, check.PartRole, "attach-role-policy --role-name team-nodes"},
		"decryption":     {func(c *team) { c.account.denied = "kms:Decrypt" }, check.PartRole, "--policy-arn arn:aws:iam::123456789012:policy/observed"},
		"bootstrap":      {func(c *team) { c.actions = c.actions[:1] }, check.PartBootstrap, "observatory observe print"},
		"bootstrap path": {func(c *team) { c.actions[1].ScriptPath = aws.String("s3://team/bootstrap.sh") }, check.PartBootstrapPath, "a copy is not updated"},
		"bootstrap hash": {func(c *team) {
			c.actions[1].ScriptPath, c.actions[1].Args = aws.String("s3://bucket/artifacts/old/bootstrap.sh"), []string{"10.0.0.5", "s3://bucket/artifacts/", "old"}
		}, check.PartBootstrapHash, "another version of the platform"},
		"bootstrap arguments": {func(c *team) { c.actions[1].Args = []string{"10.9.9.9", "s3://bucket/artifacts/", "ab"} }, check.PartBootstrap, "observe print"},
		"classification":      {func(c *team) { c.cluster.Configurations = slices.Delete(c.cluster.Configurations, 1, 2) }, "core-site", "merges the list"},
		"agent of the driver": {func(c *team) { spark(c)["spark.driver.defaultJavaOptions"] = "-Xss8m" }, "spark-defaults", "without the agent Spark sends nothing"},
		"agent in a group": {func(c *team) {
			c.groups[0].Configurations[0].Properties["spark.executor.defaultJavaOptions"] = "-Xss8m"
		}, "spark-defaults of instance group ig-1", "add this to yours"},
		"VPC":             {func(c *team) { c.account.vpc = "vpc-2" }, check.PartRoute, "start the cluster in a subnet of vpc-1, such as subnet-1"},
		"route":           {func(c *team) { c.account.state = "blackhole" }, check.PartRoute, "repair the subnet's route table"},
		"route by main":   {func(c *team) { c.account.state, c.account.mainTable = "blackhole", true }, check.PartRoute, "repair the subnet's route table"},
		"Spark":           {func(c *team) { c.cluster.Applications = c.cluster.Applications[:1] }, check.PartSpark, "only metrics and logs of the hosts"},
		"release":         {func(c *team) { c.cluster.ReleaseLabel = aws.String("emr-5.36.0") }, check.PartRelease, "choose such a release"},
		"Spark's release": {func(c *team) { c.cluster.ReleaseLabel = aws.String("emr-spark-8.0.0") }, check.PartRelease, "choose such a release"},
		"right of IAM":    {func(c *team) { c.account.failing = "SimulatePrincipalPolicy" }, check.PartRole, "allow yourself iam:GetInstanceProfile"},
		"right of EC2":    {func(c *team) { c.account.failing = "DescribeRouteTables" }, check.PartRoute, "ec2:DescribeRouteTables"},
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

// A cluster that nobody prepared lacks everything, and has to be started again.
func TestObserveCheckOfAnUnpreparedCluster(t *testing.T) {
	c := team{
		cluster: types.Cluster{Name: aws.String("plain"), ReleaseLabel: aws.String("emr-7.10.0"), Ec2InstanceAttributes: &types.Ec2InstanceAttributes{
			IamInstanceProfile: aws.String("team"), Ec2SubnetId: aws.String("subnet-1"),
		}},
		account: account{denied: "s3:GetObject"},
	}
	o := c.check(t)
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stdout, "A running cluster takes no bootstrap action")
	for _, part := range []check.Part{check.PartSpark, check.PartPrimaryGroup, check.PartCoreGroup, check.PartRole, check.PartBootstrap} {
		require.Contains(t, o.stdout, "\n  "+string(part)+"\n    found: ")
	}
	require.NotContains(t, o.stdout, string(check.PartRoute), "the platform's own subnet")
	require.NotContains(t, o.stdout, "spark-defaults", "without Spark it means nothing")

	o = observatory(t, t.TempDir(), nil, "observe", "check", "00fabcdef", "--outputs", writeOutputs(t))
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "EMR Serverless and EMR on EKS have no nodes")
}
