package emrapi_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
)

func TestSDKReadsACluster(t *testing.T) {
	c := newCloud(t)
	before := time.Now().Add(-time.Second)
	id := c.putCluster(t)

	got, err := c.client.DescribeCluster(t.Context(), &emr.DescribeClusterInput{ClusterId: &id})
	require.NoError(t, err)
	require.Equal(t, types.ClusterStateStarting, got.Cluster.Status.State)
	require.Equal(t, "spark-defaults", *got.Cluster.Configurations[0].Classification)
	require.Equal(t, map[string]string{"spark.ui.enabled": "true"}, got.Cluster.Configurations[0].Properties)
	require.Equal(t, "3.5.5", *got.Cluster.Applications[0].Version)
	require.WithinRange(t, *got.Cluster.Status.Timeline.CreationDateTime, before, time.Now().Add(time.Second))
	require.Nil(t, got.Cluster.Status.Timeline.ReadyDateTime)
	kept, err := c.store.Cluster(id)
	require.NoError(t, err)
	require.WithinDuration(t, *kept.Status.Timeline.CreationDateTime,
		*got.Cluster.Status.Timeline.CreationDateTime, time.Millisecond, "the fraction of a second is kept")

	booted := make(chan error, 1)
	go func() {
		booted <- emr.NewClusterRunningWaiter(c.client, func(o *emr.ClusterRunningWaiterOptions) {
			o.MinDelay, o.MaxDelay = 5*time.Millisecond, 20*time.Millisecond
		}).Wait(t.Context(), &emr.DescribeClusterInput{ClusterId: &id}, testTimeout.Scaled())
	}()
	c.boot(t, id)
	require.NoError(t, <-booted)
	idle := c.awaitState(t, id, types.ClusterStateWaiting)
	require.Equal(t, "Cluster ready to run steps.", *idle.Status.StateChangeReason.Message)
	require.NotNil(t, idle.Status.Timeline.ReadyDateTime)

	groups, err := c.client.ListInstanceGroups(t.Context(), &emr.ListInstanceGroupsInput{ClusterId: &id})
	require.NoError(t, err)
	require.Len(t, groups.InstanceGroups, 2)
	require.EqualValues(t, 2, *groups.InstanceGroups[1].RunningInstanceCount)
	require.Equal(t, types.InstanceGroupStateRunning, groups.InstanceGroups[1].Status.State)
	actions, err := c.client.ListBootstrapActions(t.Context(), &emr.ListBootstrapActionsInput{ClusterId: &id})
	require.NoError(t, err)
	require.Equal(t, []string{"10.0.0.4"}, actions.BootstrapActions[0].Args)
}

func TestListClustersPagesAndFilters(t *testing.T) {
	c := newCloud(t)
	var ids []string
	for range 120 {
		ids = append(ids, c.putCluster(t))
	}
	c.boot(t, ids[7])
	c.awaitState(t, ids[7], types.ClusterStateWaiting)

	var listed []string
	pages := emr.NewListClustersPaginator(c.client, &emr.ListClustersInput{})
	var sizes []int
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		require.NoError(t, err)
		sizes = append(sizes, len(page.Clusters))
		for _, cluster := range page.Clusters {
			listed = append(listed, *cluster.Id)
		}
	}
	require.Equal(t, []int{50, 50, 20}, sizes)
	require.ElementsMatch(t, ids, listed)

	waiting, err := c.client.ListClusters(t.Context(), &emr.ListClustersInput{ClusterStates: []types.ClusterState{types.ClusterStateWaiting}})
	require.NoError(t, err)
	require.Len(t, waiting.Clusters, 1)
	require.Equal(t, ids[7], *waiting.Clusters[0].Id)

	middle, err := c.store.Cluster(ids[60])
	require.NoError(t, err)
	at := *middle.Status.Timeline.CreationDateTime
	newer, err := c.client.ListClusters(t.Context(), &emr.ListClustersInput{
		CreatedAfter: aws.Time(at.Add(-time.Millisecond)), CreatedBefore: aws.Time(at.Add(time.Millisecond)),
	})
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(newer.Clusters, func(s types.ClusterSummary) bool { return *s.Id == ids[60] }))
	require.Less(t, len(newer.Clusters), 50, "the times narrow the list")
	none, err := c.client.ListClusters(t.Context(), &emr.ListClustersInput{CreatedBefore: aws.Time(at.Add(-time.Hour))})
	require.NoError(t, err)
	require.Empty(t, none.Clusters)
	_, err = c.client.ListClusters(t.Context(), &emr.ListClustersInput{Marker: aws.String("nonsense")})
	requireInvalid(t, err, "Marker 'nonsense' is not valid.")
}

func TestListInstancesFilters(t *testing.T) {
	c := newCloud(t)
	id := c.putCluster(t)
	instances, err := c.store.Instances(id)
	require.NoError(t, err)
	require.NoError(t, c.store.SetInstanceState(id, *instances[1].Id, types.InstanceStateTerminated, types.InstanceStateChangeReason{}))
	for name, test := range map[string]struct {
		input emr.ListInstancesInput
		want  int
	}{
		"all":    {emr.ListInstancesInput{}, 3},
		"core":   {emr.ListInstancesInput{InstanceGroupTypes: []types.InstanceGroupType{types.InstanceGroupTypeCore}}, 2},
		"group":  {emr.ListInstancesInput{InstanceGroupId: instances[0].InstanceGroupId}, 1},
		"states": {emr.ListInstancesInput{InstanceStates: []types.InstanceState{types.InstanceStateTerminated}}, 1},
		"task":   {emr.ListInstancesInput{InstanceGroupTypes: []types.InstanceGroupType{types.InstanceGroupTypeTask}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			test.input.ClusterId = &id
			got, err := c.client.ListInstances(t.Context(), &test.input)
			require.NoError(t, err)
			require.Len(t, got.Instances, test.want)
		})
	}
}

func TestInvalidReadsAreRejected(t *testing.T) {
	c := newCloud(t)
	id, absent := c.putCluster(t), "j-ABSENT"
	_, err := c.client.DescribeCluster(t.Context(), &emr.DescribeClusterInput{ClusterId: &absent})
	requireInvalid(t, err, "Cluster id 'j-ABSENT' is not valid.")
	_, err = c.client.DescribeStep(t.Context(), &emr.DescribeStepInput{ClusterId: &id, StepId: aws.String("s-NONE")})
	requireInvalid(t, err, "Step id 's-NONE' is not valid.")
	_, err = c.client.ListInstanceFleets(t.Context(), &emr.ListInstanceFleetsInput{ClusterId: &id})
	requireInvalid(t, err, "Instance fleets and instance groups are mutually exclusive.")
	_, err = c.client.ListSteps(t.Context(), &emr.ListStepsInput{ClusterId: &id, StepIds: make([]string, 11)})
	requireInvalid(t, err, "11 ids: at most 10")

	_, err = c.client.ListStudios(t.Context(), &emr.ListStudiosInput{})
	var unknown smithy.APIError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "UnknownOperationException", unknown.ErrorCode())
	require.Contains(t, unknown.ErrorMessage(), "ListStudios is not supported by the local cloud, which supports AddInstanceFleet, ")
}

func TestMalformedRequestsAreRejected(t *testing.T) {
	c := newCloud(t)
	for name, test := range map[string]struct {
		target, authorization, body, want string
	}{
		"unsigned":     {"ElasticMapReduce.ListClusters", "", "{}", "MissingAuthenticationTokenException"},
		"other target": {"S3.ListBuckets", "AWS4-HMAC-SHA256 x", "{}", "UnknownOperationException"},
		"not JSON":     {"ElasticMapReduce.ListClusters", "AWS4-HMAC-SHA256 x", "<a/>", "SerializationException"},
		"wrong type":   {"ElasticMapReduce.DescribeCluster", "AWS4-HMAC-SHA256 x", `{"ClusterId":7}`, "SerializationException"},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.http.URL, strings.NewReader(test.body))
			require.NoError(t, err)
			request.Header.Set("X-Amz-Target", test.target)
			if test.authorization != "" {
				request.Header.Set("Authorization", test.authorization)
			}
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.Equal(t, http.StatusBadRequest, response.StatusCode)
			require.Equal(t, "application/x-amz-json-1.1", response.Header.Get("Content-Type"))
			require.Contains(t, string(body), fmt.Sprintf(`"__type":%q`, test.want))
		})
	}
}

func TestTermination(t *testing.T) {
	c := newCloud(t)
	id, other := c.putCluster(t), c.putCluster(t)
	c.boot(t, id)
	steps := c.addSteps(t, id, types.ActionOnFailureContinue, "hold", "after")
	c.awaitStep(t, id, steps[0], types.StepStateRunning)

	_, err := c.client.SetTerminationProtection(t.Context(), &emr.SetTerminationProtectionInput{
		JobFlowIds: []string{id}, TerminationProtected: aws.Bool(true),
	})
	require.NoError(t, err)
	_, err = c.client.TerminateJobFlows(t.Context(), &emr.TerminateJobFlowsInput{JobFlowIds: []string{other, id}})
	var refused smithy.APIError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "ValidationException", refused.ErrorCode())
	require.Contains(t, refused.ErrorMessage(), "since they are termination protected. ("+id+")")
	unaffected, err := c.store.Cluster(other)
	require.NoError(t, err)
	require.Equal(t, types.ClusterStateStarting, unaffected.Status.State)

	_, err = c.client.SetTerminationProtection(t.Context(), &emr.SetTerminationProtectionInput{
		JobFlowIds: []string{id}, TerminationProtected: aws.Bool(false),
	})
	require.NoError(t, err)
	_, err = c.client.TerminateJobFlows(t.Context(), &emr.TerminateJobFlowsInput{JobFlowIds: []string{id}})
	require.NoError(t, err)
	now, err := c.store.Cluster(id)
	require.NoError(t, err)
	require.NotEqual(t, types.ClusterStateRunning, now.Status.State, "the answer comes after the change")

	ended := c.awaitState(t, id, types.ClusterStateTerminated)
	require.Equal(t, id, <-c.nodes.terminated)
	require.Equal(t, types.ClusterStateChangeReasonCodeUserRequest, ended.Status.StateChangeReason.Code)
	require.NotNil(t, ended.Status.Timeline.EndDateTime)
	require.Equal(t, types.StepStateInterrupted, c.awaitStep(t, id, steps[0], types.StepStateInterrupted).Status.State)
	require.Equal(t, types.StepStateCancelled, c.awaitStep(t, id, steps[1], types.StepStateCancelled).Status.State)
	instances, err := c.client.ListInstances(t.Context(), &emr.ListInstancesInput{
		ClusterId: &id, InstanceStates: []types.InstanceState{types.InstanceStateTerminated},
	})
	require.NoError(t, err)
	require.Len(t, instances.Instances, 3)
	_, err = c.client.AddJobFlowSteps(t.Context(), &emr.AddJobFlowStepsInput{
		JobFlowId: &id, Steps: []types.StepConfig{stepConfig("late", types.ActionOnFailureContinue)},
	})
	require.ErrorContains(t, err, "A job flow that is shutting down, terminated, or finished may not be modified.")
}

func TestBootstrapFailureEndsWithErrors(t *testing.T) {
	c := newCloud(t)
	id := c.putCluster(t)
	require.NoError(t, c.store.SetClusterState(id, types.ClusterStateBootstrapping, types.ClusterStateChangeReason{}))
	require.NoError(t, c.store.SetClusterState(id, types.ClusterStateTerminating, types.ClusterStateChangeReason{
		Code:    types.ClusterStateChangeReasonCodeBootstrapFailure,
		Message: aws.String("On the master instance, bootstrap action 1 returned a non-zero return code"),
	}, types.ErrorDetail{
		ErrorCode: aws.String("BOOTSTRAP_FAILURE_PRIMARY_WITH_NON_ZERO_CODE"),
		ErrorData: []map[string]string{{"bootstrap-action": "1"}},
	}))
	c.awaitState(t, id, types.ClusterStateTerminatedWithErrors)
	got, err := c.client.DescribeCluster(t.Context(), &emr.DescribeClusterInput{ClusterId: &id})
	require.NoError(t, err)
	require.Equal(t, types.ClusterStateChangeReasonCodeBootstrapFailure, got.Cluster.Status.StateChangeReason.Code)
	require.Equal(t, []map[string]string{{"bootstrap-action": "1"}}, got.Cluster.Status.ErrorDetails[0].ErrorData)
}

func TestPolicies(t *testing.T) {
	c := newCloud(t)
	id := c.putCluster(t)
	none, err := c.client.GetAutoTerminationPolicy(t.Context(), &emr.GetAutoTerminationPolicyInput{ClusterId: &id})
	require.NoError(t, err)
	require.Nil(t, none.AutoTerminationPolicy)
	_, err = c.client.PutAutoTerminationPolicy(t.Context(), &emr.PutAutoTerminationPolicyInput{
		ClusterId: &id, AutoTerminationPolicy: &types.AutoTerminationPolicy{IdleTimeout: aws.Int64(59)},
	})
	require.ErrorContains(t, err, "AutoTerminationPolicy.IdleTimeout: 59: must be 60 to 604800 seconds")
	_, err = c.client.PutAutoTerminationPolicy(t.Context(), &emr.PutAutoTerminationPolicyInput{
		ClusterId: &id, AutoTerminationPolicy: &types.AutoTerminationPolicy{IdleTimeout: aws.Int64(3600)},
	})
	require.NoError(t, err)
	idle, err := c.client.GetAutoTerminationPolicy(t.Context(), &emr.GetAutoTerminationPolicyInput{ClusterId: &id})
	require.NoError(t, err)
	require.EqualValues(t, 3600, *idle.AutoTerminationPolicy.IdleTimeout)
	scaling, err := c.client.GetManagedScalingPolicy(t.Context(), &emr.GetManagedScalingPolicyInput{ClusterId: &id})
	require.NoError(t, err)
	require.Nil(t, scaling.ManagedScalingPolicy)
}

func TestPutClusterNamesEveryViolation(t *testing.T) {
	c := newCloud(t)
	err := c.store.PutCluster(types.Cluster{Id: aws.String("../x")}, []types.InstanceGroup{{}}, nil)
	require.ErrorContains(t, err, `Cluster.Id: "../x"`)
	require.ErrorContains(t, err, "Cluster.Name")
	require.ErrorContains(t, err, "Groups[0].Id")
	require.Empty(t, c.store.ClusterIDs())
	id := c.putCluster(t)
	require.ErrorContains(t, c.store.PutCluster(types.Cluster{Id: &id, Name: aws.String("again")}, nil, nil), "taken")
	require.ErrorIs(t, c.store.UpdateCluster("j-NONE", func(*types.Cluster) {}), emrapi.ErrNotFound)
}

// A running cluster takes tags; one that has ended keeps what it has.
func TestTagsOfAnEndedClusterStay(t *testing.T) {
	c := newCloud(t)
	id := c.putCluster(t)
	add := func(key string) error {
		_, err := c.client.AddTags(t.Context(), &emr.AddTagsInput{
			ResourceId: &id, Tags: []types.Tag{{Key: aws.String(key), Value: aws.String("data")}},
		})
		return err
	}
	require.NoError(t, add("team"))
	for _, state := range []types.ClusterState{types.ClusterStateTerminating, types.ClusterStateTerminated} {
		require.NoError(t, c.store.SetClusterState(id, state, types.ClusterStateChangeReason{}))
	}
	require.ErrorContains(t, add("late"), "InvalidRequestException")
	_, err := c.client.RemoveTags(t.Context(), &emr.RemoveTagsInput{ResourceId: &id, TagKeys: []string{"team"}})
	require.ErrorContains(t, err, "InvalidRequestException")
	got, err := c.client.DescribeCluster(t.Context(), &emr.DescribeClusterInput{ClusterId: &id})
	require.NoError(t, err)
	require.Contains(t, got.Cluster.Tags, types.Tag{Key: aws.String("team"), Value: aws.String("data")})
	require.NotContains(t, got.Cluster.Tags, types.Tag{Key: aws.String("late"), Value: aws.String("data")})
}
