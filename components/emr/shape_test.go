package emr_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/emr"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/schema"
)

// clusterInputs returns the inputs of the cluster's resource.
func clusterInputs(t *testing.T, edit func(*emr.Args)) map[string]any {
	t.Helper()
	a := validArgs()
	edit(a)
	return one(t, run(t, a), clusterType, "emr-cluster").Inputs.Mappable()
}

func TestAPrimaryNodeMayBeAlone(t *testing.T) {
	in := clusterInputs(t, func(a *emr.Args) { a.Core.Count = 0 })
	require.NotContains(t, in, "coreInstanceGroup")
	require.Contains(t, in["ec2Attributes"], "emrManagedSlaveSecurityGroup", "EMR takes both groups or none")
}

// The provider reads the core group of a running cluster back where the program has
// none, and would show no difference.
func TestRemovingTheCoreGroupReplacesTheCluster(t *testing.T) {
	of := func(core int) string {
		a := validArgs()
		a.Core.Count = core
		return trigger(t, a)
	}
	require.Equal(t, of(2), of(3))
	require.NotEqual(t, of(2), of(0))
}

// trigger returns the value whose change replaces the cluster.
func trigger(t *testing.T, a *emr.Args) string {
	t.Helper()
	return one(t, run(t, a), clusterType, "emr-cluster").Trigger
}

// taskFleetRecord returns the record of the task fleet, whose replacement replaces the
// cluster.
func taskFleetRecord(t *testing.T, edit func(*schema.Fleets)) recorder.Resource {
	t.Helper()
	a := fleetArgs()
	edit(a.Fleets)
	require.NoError(t, a.Validate())
	rec := run(t, a)
	record := one(t, rec, "pulumi:index:Stash", "emr-fleet-shape")
	require.Contains(t, one(t, rec, clusterType, "emr-cluster").Trigger, record.ID)
	return record
}

// replacedAfter reports what the engine makes of the record of an edited fleet: it
// replaces by a trigger only if there was one before, and there still is one.
func replacedAfter(before, after recorder.Resource) bool {
	byTrigger := before.Trigger != "" && after.Trigger != "" && before.Trigger != after.Trigger
	return byTrigger || slices.Contains(after.ReplacedOn, "input") && !before.Inputs.DeepEquals(after.Inputs)
}

// EMR adds a task fleet to a running cluster once. It neither removes it nor creates
// another one in its place.
func TestImmutableTaskFleetFieldsReplaceCluster(t *testing.T) {
	var task *schema.Fleet
	before := taskFleetRecord(t, func(f *schema.Fleets) { task = f.Task })
	for name, c := range map[string]struct {
		edit     func(*schema.Fleets)
		replaces bool
	}{
		"types":          {func(f *schema.Fleets) { f.Task.Types[0].BidPercent = 70 }, true},
		"volumes":        {func(f *schema.Fleets) { f.Task.Types[0].EBS[0].SizeGiB = 128 }, true},
		"no volumes":     {func(f *schema.Fleets) { f.Task.Types[0].EBS = nil }, true},
		"strategy":       {func(f *schema.Fleets) { f.Task.SpotStrategy = "diversified" }, true},
		"first target":   {func(f *schema.Fleets) { f.Task.OnDemand = 1 }, true}, // its strategy is sent then
		"removed":        {func(f *schema.Fleets) { f.Task = nil }, true},
		"target":         {func(f *schema.Fleets) { f.Task.Spot = 9 }, false},
		"not sent":       {func(f *schema.Fleets) { f.Task.OnDemandStrategy = "" }, false},
		"order of types": {func(f *schema.Fleets) { slices.Reverse(f.Task.Types) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.replaces, replacedAfter(before, taskFleetRecord(t, c.edit)))
		})
	}
	none := taskFleetRecord(t, func(f *schema.Fleets) { f.Task = nil })
	require.False(t, replacedAfter(none, none))
	require.False(t, replacedAfter(none, taskFleetRecord(t, func(f *schema.Fleets) { f.Task = task })), "the first one is added")
}

// The provider reads the volumes of a running group back where the program has none, and
// would show no difference.
func TestRemovingVolumesReplaces(t *testing.T) {
	groups := func(edit func(*emr.Args)) (cluster, task string) {
		a := validArgs()
		volumes := []schema.Volume{{Type: "gp3", SizeGiB: 64, PerInstance: 1}}
		a.Master.EBS, a.Core.EBS = volumes, volumes
		a.Tasks = map[string]schema.InstanceGroup{"spot": {InstanceType: "m5.xlarge", Count: 1, EBS: volumes}}
		edit(a)
		rec := run(t, a)
		return one(t, rec, clusterType, "emr-cluster").Trigger, one(t, rec, groupType, "emr-task-spot").Trigger
	}
	cluster, task := groups(func(*emr.Args) {})
	for name, edit := range map[string]func(*emr.Args){
		"master": func(a *emr.Args) { a.Master.EBS = nil }, "core": func(a *emr.Args) { a.Core.EBS = nil },
	} {
		got, gotTask := groups(edit)
		require.NotEqual(t, cluster, got, name)
		require.Equal(t, task, gotTask, name)
	}
	got, gotTask := groups(func(a *emr.Args) { a.Tasks["spot"] = schema.InstanceGroup{InstanceType: "m5.xlarge", Count: 1} })
	require.Equal(t, cluster, got)
	require.NotEqual(t, task, gotTask)
	// Other edits are the provider's, which names what differs.
	got, gotTask = groups(func(a *emr.Args) { a.Core.EBS = []schema.Volume{{Type: "gp3", SizeGiB: 32, PerInstance: 1}} })
	require.Equal(t, []string{cluster, task}, []string{got, gotTask})

	for name, edit := range map[string]func(*schema.Fleets){
		"master": func(f *schema.Fleets) { f.Master.Types[0].EBS = nil }, "core": func(f *schema.Fleets) { f.Core.Types[0].EBS = nil },
	} {
		a := fleetArgs()
		edit(a.Fleets)
		require.NotEqual(t, trigger(t, fleetArgs()), trigger(t, a), name)
	}
}

func TestTaskGroupsByKey(t *testing.T) {
	a := validArgs()
	a.Tasks = map[string]schema.InstanceGroup{
		"spot": {InstanceType: "m5.xlarge", Count: 1, BidPrice: "0.1"},
		"gpu": {InstanceType: "g4dn.xlarge", Count: 2, EBSOptimized: true, Configurations: []schema.Configuration{
			{Classification: "yarn-site", Properties: map[string]string{"a": "b"}},
		}},
	}
	rec := run(t, a)
	require.Len(t, rec.OfType(groupType), 2)
	require.Equal(t, map[string]any{
		"clusterId": "j-TEST", "name": "task-gpu", "instanceType": "g4dn.xlarge", "instanceCount": 2.0, "ebsOptimized": true,
		"configurationsJson": `[{"Classification":"yarn-site","Properties":{"a":"b"}}]`,
	}, one(t, rec, groupType, "emr-task-gpu").Inputs.Mappable())
	require.NotContains(t, one(t, rec, groupType, "emr-task-spot").Inputs, resource.PropertyKey("ebsOptimized"))
}

func TestLaunchSettings(t *testing.T) {
	in := clusterInputs(t, func(a *emr.Args) {
		a.Master.Count, a.Placement = 3, "SPREAD"
		a.CustomAMIID, a.RootVolumeGiB, a.Core.InstanceType = "ami-0123456789abcdef0", 50, "r5.xlarge"
		a.StepConcurrency, a.UnhealthyNodeReplacement, a.ScaleDownBehavior = 256, false, "TERMINATE_AT_INSTANCE_HOUR"
		a.Tags = map[string]string{"team": "data"}
	})
	require.Equal(t, "ami-0123456789abcdef0", in["customAmiId"])
	require.InDelta(t, 50, in["ebsRootVolumeSize"], 0)
	require.InDelta(t, 256, in["stepConcurrencyLevel"], 0)
	require.Equal(t, false, in["unhealthyNodeReplacement"])
	require.Equal(t, "TERMINATE_AT_INSTANCE_HOUR", in["scaleDownBehavior"])
	require.Equal(t, []any{map[string]any{"instanceRole": "MASTER", "placementStrategy": "SPREAD"}}, in["placementGroupConfigs"])
	require.Subset(t, in["tags"], map[string]any{"team": "data", "observatory:cluster": "main"})
	// EMR protects three primary nodes itself; the provider takes that back only if it
	// is told so.
	require.Equal(t, false, in["terminationProtection"])
}

// EMR returns the additional groups as a list, which the provider joins without blanks.
func TestAdditionalGroupsFollowTheObservedOne(t *testing.T) {
	in := clusterInputs(t, func(a *emr.Args) {
		a.MasterSecurityGroups = []string{"sg-0000000b", "sg-0000000a"}
		a.CoreSecurityGroups = []string{"sg-0000000c"}
	})
	attributes, ok := in["ec2Attributes"].(map[string]any)
	require.True(t, ok)
	require.Equal(t, "sg-observed,sg-0000000b,sg-0000000a", attributes["additionalMasterSecurityGroups"])
	require.Equal(t, "sg-observed,sg-0000000c", attributes["additionalSlaveSecurityGroups"])
}

// The provider ignores an edit of an action's path or name.
func TestUsersActionsFollowThePlatformsInOrder(t *testing.T) {
	a := validArgs()
	a.BootstrapActions = []schema.BootstrapAction{
		{Name: "two", Path: "s3://team/two.sh", Args: []string{"a", "b"}}, {Name: "one", Path: "file:///opt/one.sh"},
	}
	r := one(t, run(t, a), clusterType, "emr-cluster")
	require.Equal(t, []string{"bootstrapActions"}, r.ReplacedOn)
	actions, ok := r.Inputs.Mappable()["bootstrapActions"].([]any)
	require.True(t, ok)
	require.Len(t, actions, 3)
	require.Equal(t, "observatory", actions[0].(map[string]any)["name"])
	require.Equal(t, map[string]any{"name": "two", "path": "s3://team/two.sh", "args": []any{"a", "b"}}, actions[1])
	require.Equal(t, map[string]any{"name": "one", "path": "file:///opt/one.sh"}, actions[2], "an empty list is a change")
}

// ListSteps returns whatever anybody has submitted.
func TestStepsCountOnlyWhenTheClusterIsCreated(t *testing.T) {
	a := validArgs()
	a.KeepAlive, a.IdleTimeoutMinutes = false, 0
	a.Steps = []schema.Step{
		{Name: "load", ActionOnFailure: "CONTINUE", Jar: "command-runner.jar", Args: []string{"spark-submit", "x.py"}},
		{Name: "jar", ActionOnFailure: "CANCEL_AND_WAIT", Jar: "s3://team/x.jar", MainClass: "a.B", Properties: map[string]string{"k": "v"}},
	}
	r := one(t, run(t, a), clusterType, "emr-cluster")
	require.Contains(t, r.Ignored, "steps")
	in := r.Inputs.Mappable()
	require.Equal(t, false, in["keepJobFlowAliveWhenNoSteps"])
	require.Equal(t, []any{
		map[string]any{"name": "load", "actionOnFailure": "CONTINUE", "hadoopJarStep": map[string]any{
			"jar": "command-runner.jar", "args": []any{"spark-submit", "x.py"},
		}},
		map[string]any{"name": "jar", "actionOnFailure": "CANCEL_AND_WAIT", "hadoopJarStep": map[string]any{
			"jar": "s3://team/x.jar", "mainClass": "a.B", "properties": map[string]any{"k": "v"},
		}},
	}, in["steps"])
}

// Existing roles get the cluster's policies, and nothing else changes about them.
func TestExistingRolesGetPolicies(t *testing.T) {
	a := validArgs()
	a.ServiceRoleARN = "arn:aws:iam::123456789012:role/teams/emr"
	a.InstanceProfileARN = "arn:aws:iam::123456789012:instance-profile/nodes"
	rec, err := recorder.Run(program(a), append(recorderOptions("aws", "amazonaws.com"),
		recorder.WithInvoke("aws:iam/getInstanceProfile:getInstanceProfile", map[string]any{
			"roleArn": "arn:aws:iam::123456789012:role/data-nodes", "roleName": "data-nodes",
		}))...)
	require.NoError(t, err)
	require.Empty(t, rec.OfType(roleType))
	require.Empty(t, rec.OfType("aws:iam/instanceProfile:InstanceProfile"))
	require.Empty(t, rec.OfType("aws:iam/rolePolicyAttachment:RolePolicyAttachment"))
	require.Equal(t, "emr", one(t, rec, policyType, "emr-service").Inputs.Mappable()["role"])
	require.Contains(t, fmt.Sprint(one(t, rec, policyType, "emr-service").Inputs.Mappable()["policy"]),
		"role/data-nodes", "EMR passes it to EC2")
	require.Equal(t, "data-nodes", one(t, rec, policyType, "emr-node").Inputs.Mappable()["role"])
	in := one(t, rec, clusterType, "emr-cluster").Inputs.Mappable()
	require.Equal(t, a.ServiceRoleARN, in["serviceRole"])
	require.Equal(t, a.InstanceProfileARN, in["ec2Attributes"].(map[string]any)["instanceProfile"])
	w := one(t, rec, "aws:test/witness:Witness", "witness").Inputs.Mappable()
	require.Equal(t, "data-nodes", w["nodeRoleName"])
}

func TestGlueIsTheMetastoreOfHiveAndSpark(t *testing.T) {
	const key, client = "hive.metastore.client.factory.class", "com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory"
	a := validArgs()
	a.GlueCatalog, a.Applications = true, []string{"Spark", "Hive"}
	a.Configurations = []schema.Configuration{{Classification: "hive-site", Properties: map[string]string{"hive.execution.engine": "tez"}}}
	require.NoError(t, a.Validate())
	all := parse(t, render(t, a))
	require.Equal(t, map[string]string{"hive.execution.engine": "tez", key: client}, all["hive-site"])
	require.Equal(t, map[string]string{key: client}, all["spark-hive-site"])
	a.Applications = []string{"Spark"}
	require.NotContains(t, parse(t, render(t, a))["hive-site"], key, "EMR would refuse it for an application that is not there")
}

// Nothing of the platform's is lost, and no classification is there twice.
func TestClassificationsAreMergedWithThePlatforms(t *testing.T) {
	a := validArgs()
	a.Configurations = []schema.Configuration{
		{Classification: "yarn-site", Properties: map[string]string{
			"yarn.nodemanager.runtime.linux.docker.default-ro-mounts": "/etc/krb5.conf:/etc/krb5.conf", "yarn.log-aggregation-enable": "true",
		}},
		{Classification: "hadoop-env", Configurations: []schema.Configuration{
			{Classification: "export", Properties: map[string]string{"HADOOP_DATANODE_HEAPSIZE": "2048"}},
		}},
	}
	require.NoError(t, a.Validate())
	all := parse(t, render(t, a))
	require.Equal(t, "true", all["yarn-site"]["yarn.log-aggregation-enable"])
	mounts := all["yarn-site"]["yarn.nodemanager.runtime.linux.docker.default-ro-mounts"]
	require.Contains(t, mounts, "/etc/krb5.conf:/etc/krb5.conf")
	require.Contains(t, mounts, "/opt/observatory:/opt/observatory")
	require.Equal(t, "2048", all["hadoop-env/export"]["HADOOP_DATANODE_HEAPSIZE"])
	require.Contains(t, all["spark-defaults"]["spark.driver.defaultJavaOptions"], "-javaagent:")
}

func TestHostsOnlyConfiguresNoApplication(t *testing.T) {
	in := clusterInputs(t, func(a *emr.Args) {
		a.Observe, a.Applications = schema.ObserveHostsOnly, []string{"Flink"}
	})
	require.NotContains(t, in, "configurationsJson")
	action := in["bootstrapActions"].([]any)[0].(map[string]any)
	require.Equal(t, "hostsOnly", action["args"].([]any)[3], "after the shared ones: nodes install the collector alone")
}
