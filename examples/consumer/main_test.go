package main

import (
	"encoding/json"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator/record"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

// openStack opens a stack on the real engine in the backend of dir.
func openStack(t *testing.T, dir, project string, program pulumi.RunFunc, values map[string]string,
	existing ...record.Resource,
) auto.Stack {
	t.Helper()
	c := auto.ConfigMap{}
	for k, v := range values {
		c[k] = auto.ConfigValue{Value: v}
	}
	s, err := rehearse.Open(t.Context(), program, rehearse.Options{
		Project: project, Stack: "dev", Config: c, PulumiCommand: trial.Pulumi(t), WorkDir: dir, Existing: existing,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s.Stack
}

// openConsumer opens the example's stack in the same backend, in an account that has
// the platform's subnets.
func openConsumer(t *testing.T, dir string, network outputs.Network) auto.Stack {
	t.Helper()
	var existing []record.Resource
	for _, id := range network.SubnetIDs {
		existing = append(existing, record.Resource{
			Type: "aws:ec2/subnet:Subnet", ID: id, URN: id, Outputs: resource.NewPropertyMapFromMap(map[string]any{
				"vpcId": network.VPCID, "cidrBlock": "10.0.0.0/24", "availabilityZone": "us-east-1a",
			}),
		})
	}
	return openStack(t, dir, "consumer", program, map[string]string{
		"consumer:observatoryStack": "organization/" + platform.Project + "/dev", "consumer:region": "us-east-1",
		"consumer:sourceBucket": "orders-of-the-shop", "consumer:serviceRole": "EMR_DefaultRole_V2",
	}, existing...)
}

// inputsOf returns the inputs of the only resource of a type in a stack's state.
func inputsOf(t *testing.T, s auto.Stack, typ string) map[string]any {
	t.Helper()
	exported, err := s.Export(t.Context())
	require.NoError(t, err)
	var deployment apitype.DeploymentV3
	require.NoError(t, json.Unmarshal(exported.Deployment, &deployment))
	for _, r := range deployment.Resources {
		if string(r.Type) == typ {
			return r.Inputs
		}
	}
	require.Fail(t, "no "+typ+" in the state")
	return nil
}

// TestConsumerOfTheWholePlatform reads a stack of the real program through a stack
// reference of the real engine.
func TestConsumerOfTheWholePlatform(t *testing.T) {
	dir := t.TempDir()
	observatory := openStack(t, dir, platform.Project, trial.Program(trial.Materials(t)), trial.Values(t, "dev"))
	up, err := observatory.Up(t.Context())
	require.NoError(t, err)
	plain := map[string]any{}
	for k, v := range up.Outputs {
		plain[k] = v.Value
	}
	want, _, err := outputs.FromMap(plain)
	require.NoError(t, err)
	require.NotEmpty(t, want.Dashboards)

	team := openConsumer(t, dir, want.Network)
	r, err := team.Up(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, r.Outputs["lakeReaderPolicyArn"].Value)
	require.Len(t, r.Outputs["dashboards"].Value, len(want.Dashboards))
	document := inputsOf(t, team, "aws:iam/policy:Policy")["policy"]
	require.Contains(t, document, `"Resource":"arn:aws:s3:::`+want.DataBucket+`/lake/*"`)
	require.Contains(t, document, `"Resource":"`+want.KMSKeyARN+`"`)
	require.NotContains(t, document, "tempo")
	attached := inputsOf(t, team, "aws:iam/rolePolicy:RolePolicy")
	require.Equal(t, want.Clusters["main"].NodeRoleName, attached["role"])
	require.Equal(t, want.Clusters["main"].NodeRoleARN, "arn:aws:iam::000000000000:role/"+want.Clusters["main"].NodeRoleName)
	require.Contains(t, attached["policy"], `"Resource":"arn:aws:s3:::orders-of-the-shop/*"`)
	requireObserved(t, inputsOf(t, team, "aws:emr/cluster:Cluster"), want)
	require.Equal(t, want.Observe.NodePolicyARN, inputsOf(t, team, "aws:iam/rolePolicyAttachment:RolePolicyAttachment")["policyArn"])
	again, err := team.Up(t.Context(), optup.Refresh())
	require.NoError(t, err)
	require.Equal(t, map[string]int{"same": (*r.Summary.ResourceChanges)["create"]}, *again.Summary.ResourceChanges)
	for name := range r.Outputs {
		require.False(t, r.Outputs[name].Secret, name)
	}
}

// requireObserved fails unless a cluster's inputs have what the platform needs, beside
// the team's own option.
func requireObserved(t *testing.T, cluster map[string]any, platform outputs.Outputs) {
	t.Helper()
	attributes := cluster["ec2Attributes"].(map[string]any)
	require.Equal(t, platform.Observe.SecurityGroupID, attributes["additionalMasterSecurityGroups"])
	require.Equal(t, platform.Observe.SecurityGroupID, attributes["additionalSlaveSecurityGroups"])
	action := cluster["bootstrapActions"].([]any)[0].(map[string]any)
	require.Equal(t, platform.Observe.Bootstrap.Path, action["path"])
	require.Contains(t, action["args"], platform.Observe.Bootstrap.Hash)
	list, err := observe.Parse(cluster["configurationsJson"].(string))
	require.NoError(t, err)
	require.Empty(t, observe.Lacks(list, platform.Observe.Configurations))
	require.Equal(t, "-Xss8m "+observe.AgentFlag, list[0].Properties["spark.driver.defaultJavaOptions"])
}

// The consumer reports everything that is wrong with the stack's outputs, with a
// remedy, and changes nothing.
func TestConsumerStopsOnAnotherContract(t *testing.T) {
	for name, c := range map[string]struct {
		object map[string]any
		says   []string
	}{
		"another version": {
			map[string]any{"schemaVersion": outputs.SchemaVersion + 1},
			[]string{"output observatory.schemaVersion: 3: must be 2 in schema version 2; import stacks/outputs as of that stack's program"},
		},
		"renamed": {
			map[string]any{"schemaVersion": outputs.SchemaVersion, "bucket": "b", "s3Paths": map[string]any{"datalake": "s3://b/lake/"}},
			[]string{
				"output observatory.dataBucket: missing (present: bucket, s3Paths, schemaVersion): " +
					"must be present in schema version 2; run an update of that stack",
				"output observatory.s3Paths.lake: missing (present: datalake): must be present in schema version 2; run an update of that stack",
			},
		},
		"never brought up": {nil, []string{"output observatory: missing: must be present in schema version 2; run an update of that stack"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			producer := openStack(t, dir, platform.Project, func(ctx *pulumi.Context) error {
				if c.object != nil {
					ctx.Export(outputs.Observatory, pulumi.ToMap(c.object))
				}
				return nil
			}, nil)
			_, err := producer.Up(t.Context())
			require.NoError(t, err)
			team := openConsumer(t, dir, outputs.Network{})
			_, err = team.Up(t.Context())
			require.ErrorContains(t, err, "read stack organization/"+platform.Project+"/dev")
			for _, line := range c.says {
				require.ErrorContains(t, err, line)
			}
			left, err := team.Export(t.Context())
			require.NoError(t, err)
			require.NotContains(t, string(left.Deployment), "aws:iam")
		})
	}
}
