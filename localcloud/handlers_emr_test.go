package localcloud_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/smithy-go"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/simulator/diff"
	"github.com/emr-observatory/emr-observatory/simulator/property"
	"github.com/emr-observatory/emr-observatory/simulator/record"
)

const (
	clusterType = "aws:emr/cluster:Cluster"
	groupType   = "aws:emr/instanceGroup:InstanceGroup"
	fleetType   = "aws:emr/instanceFleet:InstanceFleet"
	policyType  = "aws:emr/managedScalingPolicy:ManagedScalingPolicy"
)

// lab is EMR's API without nodes and the handlers of its resources.
type lab struct {
	api      *awsemr.Client
	handlers map[string]simulator.Handler
	account  *record.Account
}

func newLab(t *testing.T) *lab {
	t.Helper()
	return newLabOf(t, ready, emrapi.Options{})
}

func ready(store *emrapi.Store) emrapi.Nodes { return emrapitest.Ready{Store: store} }

func newLabOf(t *testing.T, nodes func(*emrapi.Store) emrapi.Nodes, o emrapi.Options) *lab {
	t.Helper()
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	store.Account = emrapi.Account{Region: "us-east-1", ID: "123456789012"}
	server, err := emrapi.New(store, nodes(store), slog.New(slog.DiscardHandler), o)
	require.NoError(t, err)
	served := httptest.NewServer(server)
	t.Cleanup(func() { served.Close(); server.Close() })
	api := awsemr.New(awsemr.Options{
		Region: "us-east-1", BaseEndpoint: &served.URL, Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		RetryMaxAttempts: 1, HTTPClient: testenv.AWSClient(),
	})
	account := record.NewAccount("us-east-1", "123456789012")
	account.Configure("us-east-1", map[string]string{"default": "tag"})
	account.Add(record.Resource{URN: "subnet", Type: "aws:ec2/subnet:Subnet", ID: "subnet-1", Outputs: resource.NewPropertyMapFromMap(
		map[string]any{"vpcId": "vpc-1", "cidrBlock": "10.0.3.0/24", "availabilityZone": "us-east-1a"})})
	return &lab{api: api, handlers: localcloud.EMRHandlers(emr.Resources{API: api}), account: account}
}

// created is a resource that a handler created.
type created struct {
	*lab
	typ    string
	id     string
	inputs resource.PropertyMap
	state  resource.PropertyMap
}

func (l *lab) request(typ, id string, inputs, state resource.PropertyMap) simulator.Request {
	return simulator.Request{
		URN: "urn:" + typ, Type: typ, Name: "test", ID: id, Inputs: inputs, OldInputs: inputs, Outputs: state, Account: l.account,
	}
}

func (l *lab) create(t *testing.T, typ string, props map[string]any) *created {
	t.Helper()
	inputs := resource.NewPropertyMapFromMap(props)
	result, err := l.handlers[typ].Create(t.Context(), l.request(typ, "", inputs, nil))
	require.NoError(t, err)
	return &created{lab: l, typ: typ, id: result.ID, inputs: inputs, state: result.Outputs}
}

// refresh reads the resource as `pulumi refresh` does and returns the paths that the next
// update of an unchanged program would change.
func (c *created) refresh(t *testing.T) []string {
	t.Helper()
	result, exists, err := c.handlers[c.typ].Read(t.Context(), c.request(c.typ, c.id, c.inputs, c.state))
	require.NoError(t, err)
	require.True(t, exists)
	var paths []string
	for path := range diff.Compute(c.typ, diff.Settings{}, result.Inputs, result.Outputs, c.inputs).DetailedDiff {
		paths = append(paths, path)
	}
	c.state = result.Outputs
	return paths
}

// plain returns a property of the last state.
func (c *created) plain(key resource.PropertyKey) any { return property.PlainValue(c.state[key]) }

const clusterConfigurations = `[{"Classification":"spark-env",` +
	`"Configurations":[{"Classification":"export","Properties":{"A":"b"}}],"Properties":{}},` +
	`{"Classification":"spark-defaults","Properties":{"spark.a":"1"}}]`

// clusterProps returns the properties of a cluster with every setting.
func clusterProps() map[string]any {
	ebs := []any{map[string]any{"type": "gp3", "size": 64, "iops": 4000, "throughput": 250, "volumesPerInstance": 2}}
	policy := `{"Constraints":{"MinCapacity":1,"MaxCapacity":4},"Rules":[{"Name":"out","Action":{"SimpleScalingPolicyConfiguration":` +
		`{"ScalingAdjustment":1,"AdjustmentType":"CHANGE_IN_CAPACITY","CoolDown":300}},"Trigger":{"CloudWatchAlarmDefinition":` +
		`{"ComparisonOperator":"LESS_THAN","EvaluationPeriods":1,"MetricName":"YARNMemoryAvailablePercentage",` +
		`"Namespace":"AWS/ElasticMapReduce","Period":300,"Statistic":"AVERAGE","Threshold":15,"Unit":"PERCENT"}}}]}`
	return map[string]any{
		"name": "etl", "releaseLabel": "emr-7.10.0", "applications": []any{"Hadoop", "Spark"}, "serviceRole": "service",
		"autoscalingRole": "scaling", "securityConfiguration": "security", "logUri": "s3://data/emr-logs/", "logEncryptionKmsKeyId": "key",
		"customAmiId": "ami-0123", "ebsRootVolumeSize": 32, "scaleDownBehavior": "TERMINATE_AT_TASK_COMPLETION",
		"keepJobFlowAliveWhenNoSteps": true, "terminationProtection": true, "unhealthyNodeReplacement": true, "visibleToAllUsers": true,
		"stepConcurrencyLevel": 2, "tags": map[string]any{"team": "data"}, "configurationsJson": clusterConfigurations,
		"autoTerminationPolicy": map[string]any{"idleTimeout": 3600},
		"kerberosAttributes":    map[string]any{"realm": "EC2.INTERNAL", "kdcAdminPassword": "secret"},
		"placementGroupConfigs": []any{map[string]any{"instanceRole": "MASTER", "placementStrategy": "SPREAD"}},
		"ec2Attributes": map[string]any{
			"subnetId": "subnet-1", "instanceProfile": "nodes", "keyName": "key", "emrManagedMasterSecurityGroup": "sg-m",
			"emrManagedSlaveSecurityGroup": "sg-c", "serviceAccessSecurityGroup": "sg-s", "additionalMasterSecurityGroups": "sg-b,sg-a",
			"additionalSlaveSecurityGroups": "sg-b",
		},
		"masterInstanceGroup": map[string]any{"name": "master", "instanceType": "m6g.xlarge", "instanceCount": 1},
		"coreInstanceGroup": map[string]any{
			"name": "core", "instanceType": "r6g.2xlarge", "instanceCount": 2, "bidPrice": "0.30", "ebsConfigs": ebs, "autoscalingPolicy": policy,
		},
		"bootstrapActions": []any{map[string]any{"name": "observatory", "path": "s3://data/x.sh", "args": []any{"a"}}},
	}
}

// failing is EMR without nodes whose clusters fail to start.
type failing struct {
	emrapitest.NoNodes
	store *emrapi.Store
}

func (f failing) Launch(_ context.Context, id string) error {
	reason := types.ClusterStateChangeReason{Code: types.ClusterStateChangeReasonCodeBootstrapFailure, Message: aws.String("returned 1")}
	return f.store.SetClusterState(id, types.ClusterStateTerminatedWithErrors, reason)
}

// The provider sets the id before it waits: the engine keeps what failed to start, until
// a refresh.
func TestClusterThatFailsToStartIsKept(t *testing.T) {
	l := newLabOf(t, func(store *emrapi.Store) emrapi.Nodes { return failing{store: store} }, emrapi.Options{})
	inputs := resource.NewPropertyMapFromMap(clusterProps())
	_, err := l.handlers[clusterType].Create(t.Context(), l.request(clusterType, "", inputs, nil))
	var kept *simulator.PartialError
	require.ErrorAs(t, err, &kept)
	require.Regexp(t, "^j-", kept.Result.ID)
	require.ErrorContains(t, err, "TERMINATED_WITH_ERRORS: returned 1")
	require.Equal(t, "etl", kept.Result.Outputs["name"].StringValue())
	_, exists, err := l.handlers[clusterType].Read(t.Context(), l.request(clusterType, kept.Result.ID, inputs, kept.Result.Outputs))
	require.NoError(t, err)
	require.False(t, exists)
}

// EMR refuses an instance profile that IAM has just created. The provider repeats the call
// until EMR sees it.
func TestClusterWaitsForANewInstanceProfile(t *testing.T) {
	var asked atomic.Int32
	l := newLabOf(t, ready, emrapi.Options{SeesProfile: func(profile string) bool { return profile == "nodes" && asked.Add(1) > 2 }})
	request := emrapitest.JobFlow()
	request.JobFlowRole = aws.String("arn:aws:iam::123456789012:instance-profile/other")
	_, err := l.api.RunJobFlow(t.Context(), &request)
	var refusal smithy.APIError
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, "ValidationException", refusal.ErrorCode())
	require.Equal(t, "Invalid InstanceProfile: arn:aws:iam::123456789012:instance-profile/other.", refusal.ErrorMessage())

	require.Regexp(t, "^j-", l.create(t, clusterType, clusterProps()).id)
	require.EqualValues(t, 3, asked.Load())
}

// What the API gives back is what was given: a refresh of an untouched cluster changes
// no property, and what the program did not set is not among its inputs.
func TestRefreshOfAnUntouchedClusterChangesNothing(t *testing.T) {
	c := newLab(t).create(t, clusterType, clusterProps())
	for key, want := range property.Plain(c.inputs) {
		if key == "coreInstanceGroup" || key == "masterInstanceGroup" || key == "ec2Attributes" {
			for inner, want := range want.(map[string]any) {
				require.Equal(t, want, c.plain(resource.PropertyKey(key)).(map[string]any)[inner], "%s.%s", key, inner)
			}
			continue
		}
		require.Equal(t, want, c.plain(resource.PropertyKey(key)), key)
	}
	require.Regexp(t, `^ig-`, c.plain("coreInstanceGroup").(map[string]any)["id"])
	require.Equal(t, map[string]any{"team": "data", "default": "tag"}, c.plain("tagsAll"))
	require.Empty(t, c.refresh(t))
	require.Empty(t, c.refresh(t))
}

// What changes outside of the program appears as drift, and only that.
func TestChangesThroughTheAPIAreDrift(t *testing.T) {
	l := newLab(t)
	c := l.create(t, clusterType, clusterProps())
	core, _ := c.plain("coreInstanceGroup").(map[string]any)["id"].(string)
	_, err := l.api.ModifyInstanceGroups(t.Context(), &awsemr.ModifyInstanceGroupsInput{
		InstanceGroups: []types.InstanceGroupModifyConfig{{InstanceGroupId: &core, InstanceCount: aws.Int32(3)}},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"coreInstanceGroup.instanceCount"}, c.refresh(t))
	_, err = l.api.SetTerminationProtection(t.Context(), &awsemr.SetTerminationProtectionInput{
		JobFlowIds: []string{c.id}, TerminationProtected: aws.Bool(false),
	})
	require.NoError(t, err)
	ml := types.Tag{Key: aws.String("team"), Value: aws.String("ml")}
	_, err = l.api.AddTags(t.Context(), &awsemr.AddTagsInput{ResourceId: &c.id, Tags: []types.Tag{ml}})
	require.NoError(t, err)
	_, err = l.api.RemoveAutoTerminationPolicy(t.Context(), &awsemr.RemoveAutoTerminationPolicyInput{ClusterId: &c.id})
	require.NoError(t, err)
	_, err = l.api.RemoveAutoScalingPolicy(t.Context(), &awsemr.RemoveAutoScalingPolicyInput{ClusterId: &c.id, InstanceGroupId: &core})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{
		"coreInstanceGroup.instanceCount", "coreInstanceGroup.autoscalingPolicy", "terminationProtection", "tags.team", "autoTerminationPolicy",
	}, c.refresh(t))

	// The next update of the program corrects all of it.
	_, err = l.handlers[clusterType].Update(t.Context(), l.request(clusterType, c.id, c.inputs, c.state))
	require.NoError(t, err)
	got, err := l.api.DescribeCluster(t.Context(), &awsemr.DescribeClusterInput{ClusterId: &c.id})
	require.NoError(t, err)
	require.True(t, *got.Cluster.TerminationProtected)
	require.Contains(t, got.Cluster.Tags, types.Tag{Key: aws.String("team"), Value: aws.String("data")})
	groups, err := l.api.ListInstanceGroups(t.Context(), &awsemr.ListInstanceGroupsInput{ClusterId: &c.id})
	require.NoError(t, err)
	require.EqualValues(t, 2, *groups.InstanceGroups[1].RequestedInstanceCount)
	require.NotNil(t, groups.InstanceGroups[1].AutoScalingPolicy)
	idle, err := l.api.GetAutoTerminationPolicy(t.Context(), &awsemr.GetAutoTerminationPolicyInput{ClusterId: &c.id})
	require.NoError(t, err)
	require.EqualValues(t, 3600, *idle.AutoTerminationPolicy.IdleTimeout)
}

// A step that somebody submits is no input of a program without steps. In a program with
// steps it is a change, which replaces the cluster (terraform-provider-aws).
func TestSubmittedStepsAreDriftOfDeclaredStepsOnly(t *testing.T) {
	jar := map[string]any{"jar": "command-runner.jar", "args": []any{"true"}}
	step := map[string]any{"name": "s", "actionOnFailure": "CONTINUE", "hadoopJarStep": jar}
	for name, steps := range map[string][]any{"undeclared": nil, "declared": {step}} {
		t.Run(name, func(t *testing.T) {
			l, props := newLab(t), clusterProps()
			if steps != nil {
				props["steps"] = steps
			}
			c := l.create(t, clusterType, props)
			require.Empty(t, c.refresh(t))
			_, err := l.api.AddJobFlowSteps(t.Context(), &awsemr.AddJobFlowStepsInput{JobFlowId: &c.id, Steps: []types.StepConfig{{
				Name: aws.String("other"), ActionOnFailure: types.ActionOnFailureContinue,
				HadoopJarStep: &types.HadoopJarStepConfig{Jar: aws.String("command-runner.jar"), Args: []string{"true"}},
			}}})
			require.NoError(t, err)
			require.Equal(t, steps != nil, len(c.refresh(t)) > 0)
		})
	}
}

// An API answer writes every default of a scaling policy: a program that leaves one out
// differs from it for ever.
func TestScalingPolicyWithoutDefaultsIsDrift(t *testing.T) {
	l, props := newLab(t), clusterProps()
	core := props["coreInstanceGroup"].(map[string]any)
	var policy map[string]any
	require.NoError(t, json.Unmarshal([]byte(core["autoscalingPolicy"].(string)), &policy))
	rule := policy["Rules"].([]any)[0].(map[string]any)
	delete(rule["Action"].(map[string]any)["SimpleScalingPolicyConfiguration"].(map[string]any), "CoolDown")
	text, err := json.Marshal(policy)
	require.NoError(t, err)
	core["autoscalingPolicy"] = string(text)
	c := l.create(t, clusterType, props)
	require.Contains(t, c.plain("coreInstanceGroup").(map[string]any)["autoscalingPolicy"], `"CoolDown":0`)
}
