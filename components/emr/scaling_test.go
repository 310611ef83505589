package emr_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/emr"
	"github.com/emr-observatory/emr-observatory/schema"
)

const (
	managedType = "aws:emr/managedScalingPolicy:ManagedScalingPolicy"
	fleetType   = "aws:emr/instanceFleet:InstanceFleet"
)

func pairOfRules() *schema.AutoScaling {
	rule := schema.ScalingRule{
		Name: "out", AdjustmentType: "CHANGE_IN_CAPACITY", Adjustment: 1, CoolDownSeconds: 300, Metric: "YARNMemoryAvailablePercentage",
		Comparison: "LESS_THAN", Threshold: 15, PeriodSeconds: 300, EvaluationPeriods: 1, Statistic: "AVERAGE",
	}
	in := rule
	in.Name, in.Adjustment, in.Comparison, in.Threshold = "in", -1, "GREATER_THAN", 75
	return &schema.AutoScaling{Min: 1, Max: 4, Rules: []schema.ScalingRule{rule, in}}
}

// A policy's id is its cluster's: to delete the old one last would remove the new one.
func TestManagedScalingIsDeletedBeforeItIsReplaced(t *testing.T) {
	a := validArgs()
	one1, two := 1, 2
	a.ManagedScaling = &schema.ManagedScaling{Unit: "Instances", Min: 1, Max: 4, MaxCore: &one1, MaxOnDemand: &two}
	a.Tasks = map[string]schema.InstanceGroup{"spot": {InstanceType: "m5.xlarge", Count: 1}}
	rec := run(t, a)
	p := one(t, rec, managedType, "emr-scaling")
	require.True(t, p.DeletedFirst)
	require.Equal(t, "emr-cluster", p.DeletedWith)
	require.Contains(t, p.Dependencies, "emr-task-spot")
	require.Equal(t, map[string]any{"clusterId": "j-TEST", "computeLimits": []any{map[string]any{
		"unitType": "Instances", "minimumCapacityUnits": 1.0, "maximumCapacityUnits": 4.0, "maximumCoreCapacityUnits": 1.0,
		"maximumOndemandCapacityUnits": 2.0,
	}}}, p.Inputs.Mappable())
	require.Equal(t, []string{"steps", "coreInstanceGroup.instanceCount"}, one(t, rec, clusterType, "emr-cluster").Ignored)
	require.Equal(t, []string{"instanceCount"}, one(t, rec, groupType, "emr-task-spot").Ignored)
}

// Nothing but the count is EMR's, and that only while it scales.
func TestOnlyAScaledCountIsIgnored(t *testing.T) {
	a := validArgs()
	a.Tasks = map[string]schema.InstanceGroup{
		"fixed": {InstanceType: "m5.xlarge", Count: 1}, "scaled": {InstanceType: "m5.xlarge", Count: 1, AutoScaling: pairOfRules()},
	}
	rec := run(t, a)
	require.Equal(t, []string{"steps"}, one(t, rec, clusterType, "emr-cluster").Ignored)
	fixed, scaled := one(t, rec, groupType, "emr-task-fixed"), one(t, rec, groupType, "emr-task-scaled")
	require.Empty(t, fixed.Ignored)
	require.Equal(t, []string{"instanceCount"}, scaled.Ignored)
	// The provider cannot take a policy away: it fails to decode the empty text.
	require.Equal(t, []string{"autoscalingPolicy", "configurationsJson"}, fixed.ReplacedOn)
	require.Equal(t, []string{"configurationsJson"}, scaled.ReplacedOn)
}

// EMR answers with every default, which the provider compares with the text.
func TestRulesOfScalingHaveEveryDefault(t *testing.T) {
	a := validArgs()
	a.Core.AutoScaling = pairOfRules()
	rec := run(t, a)
	r := one(t, rec, clusterType, "emr-cluster")
	require.Contains(t, r.Ignored, "coreInstanceGroup.instanceCount")
	in := r.Inputs.Mappable()
	require.Equal(t, "arn:aws:iam::123456789012:role/emr-scaling-1a2b3c4", in["autoscalingRole"])
	rule := func(name string, adjustment int, comparison string, threshold int) string {
		return fmt.Sprintf(`{"Name":%q,"Action":{"SimpleScalingPolicyConfiguration":{"AdjustmentType":"CHANGE_IN_CAPACITY",`+
			`"ScalingAdjustment":%d,"CoolDown":300}},"Trigger":{"CloudWatchAlarmDefinition":{"ComparisonOperator":%q,"EvaluationPeriods":1,`+
			`"MetricName":"YARNMemoryAvailablePercentage","Namespace":"AWS/ElasticMapReduce","Period":300,"Statistic":"AVERAGE","Threshold":%d,`+
			`"Unit":"PERCENT"}}}`, name, adjustment, comparison, threshold)
	}
	core, ok := in["coreInstanceGroup"].(map[string]any)
	require.True(t, ok)
	require.Equal(t, `{"Constraints":{"MinCapacity":1,"MaxCapacity":4},"Rules":[`+rule("out", 1, "LESS_THAN", 15)+","+
		rule("in", -1, "GREATER_THAN", 75)+"]}", core["autoscalingPolicy"])
	trust := fmt.Sprint(one(t, rec, roleType, "emr-scaling").Inputs.Mappable()["assumeRolePolicy"])
	require.Contains(t, trust, "application-autoscaling.amazonaws.com")
	require.Contains(t, trust, "elasticmapreduce.amazonaws.com")
	service := fmt.Sprint(one(t, rec, policyType, "emr-service").Inputs.Mappable()["policy"])
	require.Contains(t, service, "role/emr-scaling-1a2b3c4", "EMR passes it")
	require.Contains(t, r.Dependencies, "emr-scaling")
}

func fleetArgs() *emr.Args {
	a := validArgs()
	fleet := func(onDemand, spot int) schema.Fleet {
		var f schema.Fleet
		f.SetDefaults()
		f.OnDemand, f.Spot = onDemand, spot
		f.Types = []schema.FleetType{
			{InstanceType: "m5.xlarge", Weight: 1, BidPercent: 80, EBS: []schema.Volume{{Type: "gp3", SizeGiB: 64, PerInstance: 2}}},
			{InstanceType: "m5.2xlarge", Weight: 2, BidPrice: "0.2"},
		}
		return f
	}
	core, task := fleet(2, 4), fleet(0, 8)
	master := fleet(1, 0)
	master.Types = master.Types[:1]
	var defaults schema.Cluster
	defaults.SetDefaults()
	a.Master, a.Core = defaults.Master, defaults.Core
	a.Fleets = &schema.Fleets{Master: master, Core: &core, Task: &task}
	return a
}

func TestFleetsReplaceGroups(t *testing.T) {
	a := fleetArgs()
	require.NoError(t, a.Validate())
	rec := run(t, a)
	in := one(t, rec, clusterType, "emr-cluster").Inputs.Mappable()
	require.NotContains(t, in, "masterInstanceGroup")
	require.NotContains(t, in, "coreInstanceGroup")
	require.Equal(t, []any{"subnet-1"}, in["ec2Attributes"].(map[string]any)["subnetIds"])
	require.NotContains(t, in["ec2Attributes"], "subnetId")
	types := []any{
		map[string]any{"instanceType": "m5.xlarge", "weightedCapacity": 1.0, "bidPriceAsPercentageOfOnDemandPrice": 80.0, "ebsConfigs": []any{
			map[string]any{"type": "gp3", "size": 64.0, "volumesPerInstance": 2.0},
		}},
		map[string]any{"instanceType": "m5.2xlarge", "weightedCapacity": 2.0, "bidPrice": "0.2",
			"bidPriceAsPercentageOfOnDemandPrice": 0.0},
	}
	onDemand := []any{map[string]any{"allocationStrategy": "lowest-price"}}
	spot := []any{map[string]any{"allocationStrategy": "price-capacity-optimized", "timeoutAction": "SWITCH_TO_ON_DEMAND",
		"timeoutDurationMinutes": 20.0}}
	require.Equal(t, map[string]any{"name": "master", "targetOnDemandCapacity": 1.0, "targetSpotCapacity": 0.0,
		"instanceTypeConfigs":  types[:1],
		"launchSpecifications": map[string]any{"onDemandSpecifications": onDemand}}, in["masterInstanceFleet"])
	require.Equal(t, map[string]any{"name": "core", "targetOnDemandCapacity": 2.0, "targetSpotCapacity": 4.0, "instanceTypeConfigs": types,
		"launchSpecifications": map[string]any{"onDemandSpecifications": onDemand, "spotSpecifications": spot}}, in["coreInstanceFleet"])
	task := one(t, rec, fleetType, "emr-task")
	require.Equal(t, "emr-cluster", task.DeletedWith)
	require.Equal(t, map[string]any{"clusterId": "j-TEST", "name": "task", "targetOnDemandCapacity": 0.0, "targetSpotCapacity": 8.0,
		"instanceTypeConfigs": types, "launchSpecifications": map[string]any{"spotSpecifications": spot}}, task.Inputs.Mappable())
	require.Empty(t, task.Ignored)
}

// Managed scaling moves a fleet's targets, which at the cluster would replace it
// (terraform-provider-aws#36492). Everything else about the fleet stays under control.
func TestManagedScalingOwnsTheTargetsOfFleets(t *testing.T) {
	a := fleetArgs()
	a.ManagedScaling = &schema.ManagedScaling{Unit: "InstanceFleetUnits", Min: 2, Max: 20}
	require.NoError(t, a.Validate())
	rec := run(t, a)
	require.Equal(t, []string{"steps", "coreInstanceFleet.targetOnDemandCapacity", "coreInstanceFleet.targetSpotCapacity"},
		one(t, rec, clusterType, "emr-cluster").Ignored)
	require.Equal(t, []string{"targetOnDemandCapacity", "targetSpotCapacity"}, one(t, rec, fleetType, "emr-task").Ignored)
}

func TestAccessGivesTheNodesWhatJobsNeed(t *testing.T) {
	a := validArgs()
	a.Access = schema.Access{
		S3Read: []string{"s3://raw/sales/"}, S3Write: []string{"s3://out/"},
		KMSKeys: []string{"arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f"}, GlueDatabases: []string{"sales"},
		Secrets: []string{"arn:aws:secretsmanager:us-east-1:123456789012:secret:db-a1b2c3"},
	}
	policy := fmt.Sprint(one(t, run(t, a), policyType, "emr-node").Inputs.Mappable()["policy"])
	for _, part := range []string{
		`"Sid":"ReadObjects","Effect":"Allow","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::raw/sales/*"]`,
		`"Resource":["arn:aws:s3:::out/*"]`, `"s3:prefix":["sales","sales/*"]`, `"Sid":"UseKeys"`,
		`"arn:aws:glue:us-east-1:123456789012:catalog","arn:aws:glue:us-east-1:123456789012:database/default",` +
			`"arn:aws:glue:us-east-1:123456789012:database/sales","arn:aws:glue:us-east-1:123456789012:table/sales/*"`,
		`"secretsmanager:GetSecretValue"`, `secret:db-a1b2c3`,
	} {
		require.Contains(t, policy, part)
	}
	none := fmt.Sprint(one(t, run(t, validArgs()), policyType, "emr-node").Inputs.Mappable()["policy"])
	for _, sid := range []string{"ConnectToCatalog", "UseTables", "UseKeys", "ReadSecrets", "ReadObjects", "WriteObjects", "ListBucket0"} {
		require.NotContains(t, none, sid)
	}
}

// The catalog's client fails on a node that may neither find nor create the database
// default, also where jobs use no database of the configuration.
func TestGlueCatalogCanBeConnectedTo(t *testing.T) {
	a := validArgs()
	a.GlueCatalog = true
	policy := fmt.Sprint(one(t, run(t, a), policyType, "emr-node").Inputs.Mappable()["policy"])
	require.Contains(t, policy, `"Sid":"ConnectToCatalog","Effect":"Allow","Action":["glue:GetDatabase","glue:CreateDatabase"],`+
		`"Resource":["arn:aws:glue:us-east-1:123456789012:catalog","arn:aws:glue:us-east-1:123456789012:database/default"]`)
}
