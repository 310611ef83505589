package outputs_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

var update = flag.Bool("update", false, "write the rendered files")

func sampleOutputs() outputs.Outputs {
	return outputs.Outputs{
		SchemaVersion: outputs.SchemaVersion, DataBucket: "bucket", S3Paths: platform.NewS3Paths("bucket"),
		KMSKeyARN: "arn:aws:kms:us-east-1:123456789012:key/k", ControlInstanceID: "i-0123", ControlVolumeID: "vol-0123",
		ControlPrivateIP: "10.0.0.5", ControlPublicIP: "203.0.113.9",
		Network: outputs.Network{VPCID: "vpc-1", SubnetIDs: []string{"subnet-1"}},
		Athena: outputs.AthenaSettings{
			Database: "emr_observatory_dev", Workgroup: "emr-observatory-dev", ReadPolicy: `{"Version":"2012-10-17","Statement":[]}`,
		},
		Schedules: outputs.ScheduleSettings{GroupName: "schedules-group-1", LostRunsQueueURL: "https://sqs.us-east-1.amazonaws.com/1/lost"},
		Cost: outputs.Costs{
			Month: outputs.Amounts{Least: 1, Typical: 2.5, Most: 3}, Prices: []string{"a list of 2026-11-29"}, Unpriced: []string{},
			Clusters: map[string]outputs.ClusterCost{"etl": {Hour: outputs.Amounts{Most: 0.25}, Month: outputs.Amounts{Typical: 7}}},
		},
		Clusters: map[string]outputs.Cluster{"etl": {
			ID: "j-1", Name: "emr-observatory-dev-etl", MasterDNS: "ip-10-0-0-9.ec2.internal",
			NodeRoleARN: "arn:aws:iam::123456789012:role/emr-etl-node-1", NodeRoleName: "emr-etl-node-1", LogURI: "s3://bucket/emr-logs/etl/",
			MasterSecurityGroupID: "sg-1", CoreSecurityGroupID: "sg-2", ServiceAccessSecurityGroupID: "sg-3",
		}},
		Observe: observe.Settings{
			SecurityGroupID: "sg-4", NodePolicyARN: "arn:aws:iam::123456789012:policy/observed-1",
			Bootstrap: observe.Bootstrap{Path: "s3://bucket/artifacts/ab/bootstrap.sh",
				Args: []string{"10.0.0.5", "s3://bucket/artifacts/", "ab"}, Hash: "ab"},
			Configurations: observe.Configurations("1", nil),
		},
		GrafanaURL: "https://10.0.0.5:3000",
		Dashboards: map[string]string{"emr-overview": "https://10.0.0.5:3000/d/x"},
		StatusURL:  "https://10.0.0.5:8080", CACertificate: "-----BEGIN CERTIFICATE-----",
		Endpoints: map[string]string{"tempo": "http://tempo:3200"},
	}
}

// plain returns the object as the engine returns it.
func plain(t *testing.T, o outputs.Outputs) map[string]any {
	t.Helper()
	b, err := json.Marshal(o)
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(b, &out))
	return out
}

// values converts outputs to inputs of Export.
func values(o outputs.Outputs) outputs.Values {
	paths := pulumi.StringMap{}
	b, _ := json.Marshal(o.S3Paths) // a struct of strings
	var m map[string]string
	_ = json.Unmarshal(b, &m)
	for k, v := range m {
		paths[k] = pulumi.String(v)
	}
	clusters := map[string]outputs.ClusterValues{}
	for key, c := range o.Clusters {
		clusters[key] = outputs.ClusterValues{
			ID: pulumi.String(c.ID), Name: pulumi.String(c.Name), MasterDNS: pulumi.String(c.MasterDNS),
			NodeRoleARN: pulumi.String(c.NodeRoleARN), NodeRoleName: pulumi.String(c.NodeRoleName), LogURI: pulumi.String(c.LogURI),
			MasterSecurityGroupID: pulumi.String(c.MasterSecurityGroupID), CoreSecurityGroupID: pulumi.String(c.CoreSecurityGroupID),
			ServiceAccessSecurityGroupID: pulumi.String(c.ServiceAccessSecurityGroupID),
		}
	}
	return outputs.Values{
		DataBucket: pulumi.String(o.DataBucket), S3Paths: paths, KMSKeyARN: pulumi.String(o.KMSKeyARN),
		VPCID: pulumi.String(o.Network.VPCID), SubnetIDs: pulumi.ToStringArray(o.Network.SubnetIDs),
		ControlInstanceID: pulumi.String(o.ControlInstanceID), ControlVolumeID: pulumi.String(o.ControlVolumeID),
		ControlPrivateIP: pulumi.String(o.ControlPrivateIP), ControlPublicIP: pulumi.String(o.ControlPublicIP),
		Schedules: outputs.ScheduleValues{
			GroupName: pulumi.String(o.Schedules.GroupName), LostRunsQueueURL: pulumi.String(o.Schedules.LostRunsQueueURL),
		},
		Cost:     o.Cost,
		Clusters: clusters, Observe: outputs.ObserveValues{
			SecurityGroupID: pulumi.String(o.Observe.SecurityGroupID), NodePolicyARN: pulumi.String(o.Observe.NodePolicyARN),
			BootstrapPath: pulumi.String(o.Observe.Bootstrap.Path), BootstrapHash: pulumi.String(o.Observe.Bootstrap.Hash),
			BootstrapArgs: pulumi.ToStringArray(o.Observe.Bootstrap.Args), Configurations: o.Observe.Configurations,
		},
		GrafanaURL: pulumi.String(o.GrafanaURL), StatusURL: pulumi.String(o.StatusURL), CACertificate: pulumi.String(o.CACertificate),
		Dashboards: pulumi.ToStringMap(o.Dashboards), Endpoints: pulumi.ToStringMap(o.Endpoints),
		Kubeconfig: pulumi.String("hunter2-kubeconfig"), GrafanaPassword: pulumi.String("hunter2-password"),
		StatusPassword: pulumi.String("hunter2-status"),
	}
}

// readOutputs runs a program that reads the outputs of another stack.
func readOutputs(stackOutputs map[string]any, read func(*pulumi.Context, *pulumi.StackReference) error) error {
	_, err := recorder.Run(func(ctx *pulumi.Context) error {
		ref, err := pulumi.NewStackReference(ctx, "organization/emr-observatory/dev", nil)
		if err != nil {
			return err
		}
		return read(ctx, ref)
	}, recorder.WithComputed(func(recorder.Resource) resource.PropertyMap {
		outs := resource.NewPropertyMapFromMap(stackOutputs)
		for _, name := range []resource.PropertyKey{outputs.Kubeconfig, outputs.GrafanaPassword, outputs.StatusPassword} {
			if v, ok := outs[name]; ok {
				outs[name] = resource.MakeSecret(v)
			}
		}
		return resource.PropertyMap{"outputs": resource.NewObjectProperty(outs)}
	}))
	return err
}

func TestExportDeclaresExactlyTheContract(t *testing.T) {
	var exported map[string]pulumi.Input
	_, err := recorder.Run(func(ctx *pulumi.Context) error {
		outputs.Export(ctx, values(sampleOutputs()))
		exported = ctx.GetCurrentExportMap()
		var c pulumi.ResourceState
		return ctx.RegisterComponentResource("observatory:test:Exported", "exported", &c)
	})
	require.NoError(t, err)
	names := make([]string, 0, len(exported))
	for n := range exported {
		names = append(names, n)
	}
	require.ElementsMatch(t, outputs.Names(), names)

	object, ok := exported[outputs.Observatory].(pulumi.Map)
	require.True(t, ok)
	keys := make([]string, 0, len(object))
	for k := range object {
		keys = append(keys, k)
	}
	want := make([]string, 0, len(keys))
	for k := range plain(t, sampleOutputs()) {
		want = append(want, k)
	}
	require.ElementsMatch(t, want, keys, "Export and the struct Outputs disagree")

	for _, name := range []string{outputs.Kubeconfig, outputs.GrafanaPassword, outputs.StatusPassword} {
		out, isOutput := exported[name].(pulumi.Output)
		require.True(t, isOutput)
		require.True(t, pulumi.IsSecret(out), "%s is not secret", name)
	}
}

func TestReadReturnsExportedValues(t *testing.T) {
	var got outputs.Outputs
	require.NoError(t, readOutputs(map[string]any{outputs.Observatory: plain(t, sampleOutputs())},
		func(ctx *pulumi.Context, ref *pulumi.StackReference) error {
			var err error
			got, err = outputs.Read(ctx, ref)
			return err
		}))
	require.Equal(t, sampleOutputs(), got)
}

func TestReadNamesWhatIsMissing(t *testing.T) {
	whole := plain(t, sampleOutputs())
	for key := range whole {
		if key == outputs.ToolsURL || key == outputs.Cost || key == outputs.Schedules || key == outputs.Athena {
			continue // a stack of an earlier program lacks it
		}
		partial := plain(t, sampleOutputs())
		delete(partial, key)
		partial["renamed"] = "x"
		err := readOutputs(map[string]any{outputs.Observatory: partial}, func(ctx *pulumi.Context, ref *pulumi.StackReference) error {
			_, err := outputs.Read(ctx, ref)
			return err
		})
		requireViolation(t, err, "observatory."+key, "missing (present: ")
		require.ErrorContains(t, err, "renamed")
	}
	nested := plain(t, sampleOutputs())
	delete(nested["s3Paths"].(map[string]any), "lake")
	_, _, err := outputs.FromMap(map[string]any{outputs.Observatory: nested})
	requireViolation(t, err, "observatory.s3Paths.lake", "missing (present: artifacts, data, emrLogs, pyroscope, tempo)")
	requireViolation(t, err, "kubeconfig", "missing")
	requireViolation(t, err, "grafanaPassword", "missing")
	requireViolation(t, err, "statusPassword", "missing")

	err = readOutputs(map[string]any{"other": 1}, func(ctx *pulumi.Context, ref *pulumi.StackReference) error {
		_, err := outputs.Read(ctx, ref)
		return err
	})
	requireViolation(t, err, "observatory", "missing")
}

func TestReadRejectsOtherVersionsAndTypes(t *testing.T) {
	for name, c := range map[string]struct {
		key                   string
		value                 any
		output, found, remedy string
	}{
		"newer":      {"schemaVersion", 3, "observatory.schemaVersion", "3: must be 2", "import stacks/outputs as of that stack's program"},
		"older":      {"schemaVersion", 1, "observatory.schemaVersion", "1: must be 2", "run an update of that stack"},
		"text":       {"schemaVersion", "1", "observatory.schemaVersion", "a string: must be a number", "run an update of that stack"},
		"other type": {"dataBucket", 7, "observatory.dataBucket", "of another type: must be string", "run an update of that stack"},
		"nested type": {"network", map[string]any{"vpcId": "x", "subnetIds": "x"}, "observatory.network.subnetIds",
			"must be list of string", "run an update of that stack"},
		"entry of a map": {"clusters", map[string]any{"etl": map[string]any{"id": "j-1"}}, "observatory.clusters.etl.masterDns", "missing",
			"run an update of that stack"},
		"no entry of a map": {"clusters", map[string]any{"etl": "j-1"}, "observatory.clusters.etl", "must be object",
			"run an update of that stack"},
		"map of others": {"endpoints", map[string]any{"tempo": 1}, "observatory.endpoints", "must be map of string",
			"run an update of that stack"},
	} {
		t.Run(name, func(t *testing.T) {
			object := plain(t, sampleOutputs())
			object[c.key] = c.value
			_, _, err := outputs.FromMap(map[string]any{
				outputs.Observatory: object, outputs.Kubeconfig: "x", outputs.GrafanaPassword: "x", outputs.StatusPassword: "x",
			})
			requireViolation(t, err, c.output, c.found)
			require.ErrorContains(t, err, c.remedy)
			require.ErrorContains(t, err, "schema version 2")
		})
	}
	_, _, err := outputs.FromMap(map[string]any{outputs.Observatory: "text"})
	requireViolation(t, err, "observatory", "a string: must be an object")
}

// requireViolation requires err to contain a violation of this output, with its remedy.
func requireViolation(t *testing.T, err error, output, found string) {
	t.Helper()
	require.Error(t, err)
	for _, line := range strings.Split(err.Error(), "\n") {
		if strings.Contains(line, "output "+output+": ") {
			require.Contains(t, line, found)
			require.Regexp(t, `in schema version 2; \S.+`, line)
			return
		}
	}
	require.Fail(t, "no violation of "+output, err.Error())
}

func TestSecretsStaySecret(t *testing.T) {
	whole := map[string]any{
		outputs.Observatory: plain(t, sampleOutputs()), outputs.Kubeconfig: "hunter2-k", outputs.GrafanaPassword: "hunter2-p",
		outputs.StatusPassword: "hunter2-s", outputs.ToolsToken: "hunter2-t",
	}
	require.NoError(t, readOutputs(whole, func(_ *pulumi.Context, ref *pulumi.StackReference) error {
		out, err := outputs.ReadSecret(ref, outputs.Kubeconfig)
		if err == nil && !pulumi.IsSecret(out) {
			err = fmt.Errorf("kubeconfig lost its secrecy")
		}
		return err
	}))
	err := readOutputs(map[string]any{outputs.Observatory: "x"}, func(_ *pulumi.Context, ref *pulumi.StackReference) error {
		_, err := outputs.ReadSecret(ref, outputs.GrafanaPassword)
		return err
	})
	require.ErrorContains(t, err, "grafanaPassword")

	got, secrets, err := outputs.FromMap(whole)
	require.NoError(t, err)
	require.Equal(t, sampleOutputs(), got)
	require.Equal(t, "hunter2-k", secrets.Kubeconfig)
	require.Equal(t, "hunter2-p", secrets.GrafanaPassword)
	require.Equal(t, "hunter2-s", secrets.StatusPassword)
	require.Equal(t, "hunter2-t", secrets.ToolsToken)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v %s", secrets, secrets, secrets, secrets), "hunter2")
}

func TestReferenceIsUpToDate(t *testing.T) {
	at := filepath.Join("../..", "docs/reference/outputs.md")
	if *update {
		require.NoError(t, os.WriteFile(at, outputs.Reference(), 0o644))
	}
	got, err := os.ReadFile(at)
	require.NoError(t, err)
	require.Equal(t, string(outputs.Reference()), string(got), "stale: run `make generate`")
	for _, name := range outputs.Names() {
		require.Contains(t, string(got), "`"+name+"`")
	}
}
