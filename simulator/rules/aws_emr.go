package rules

import (
	"math"
	"strings"

	"github.com/emr-observatory/emr-observatory/simulator/emrlimits"
)

const (
	emrDoc     = "EMR API, RunJobFlow"
	emrGroups  = "EMR API, InstanceGroupConfig"
	emrCluster = "aws:emr/cluster:Cluster"
	emrTask    = "aws:emr/instanceGroup:InstanceGroup"
)

// clusterRules cover the top-level fields of a cluster one by one.
func clusterRules() []Rule {
	return []Rule{
		{Type: emrCluster, Path: "releaseLabel", Rule: "must be emr-x.y.z", Remedy: "write e.g. emr-7.10.0", Source: emrDoc,
			Holds: matches(`^emr-\d+\.\d+\.\d+$`), Pass: "emr-7.10.0", Fail: "7.10"},
		{Type: emrCluster, Path: "name", Rule: "must be at most 256 characters without < > $ | `", Source: emrDoc,
			Holds: matches("^[^<>$|`\r\n\t]{0,256}$"), Pass: "spark", Fail: "a|b"},
		{Type: emrCluster, Path: "applications[*]", Rule: "must be an application of EMR 6.15 to 7.x",
			Source: "EMR Release Guide, Amazon EMR release 6.15.0 and Application versions 7.x", Holds: oneOf(applications()...),
			Pass: "Spark", Fail: "Sprak"},
		limits(emrCluster, "stepConcurrencyLevel", emrDoc, "", 1, 256, 1, 0),
		limits(emrCluster, "autoTerminationPolicy.idleTimeout", "EMR API, AutoTerminationPolicy", "seconds", 60, 604800, 3600, 59),
		limits(emrCluster, "ebsRootVolumeSize", emrDoc, "GiB", 15, 100, 32, 8),
		enum(emrCluster, "scaleDownBehavior", emrDoc, "TERMINATE_AT_TASK_COMPLETION", "TERMINATE", "TERMINATE_AT_INSTANCE_HOUR",
			"TERMINATE_AT_TASK_COMPLETION"),
		{Type: emrCluster, Path: "logUri", Rule: "must begin with s3:// or s3n:// and end with a slash",
			Remedy: "write s3://bucket/emr-logs/", Source: "EMR Management Guide, Archive log files",
			Holds: matches(`^s3n?://[a-z0-9][a-z0-9.-]+/(.*/)?$`), Pass: "s3://bucket/emr-logs/", Fail: "bucket/emr-logs"},
		{Type: emrCluster, Path: "customAmiId", Rule: "must be an AMI id", Source: emrDoc, Holds: matches(`^ami-[0-9a-z]+$`),
			Pass: "ami-0123456789abcdef0", Fail: "al2023"},
	}
}

// clusterPartRules cover the blocks of a cluster one by one.
func clusterPartRules() []Rule {
	return []Rule{
		{Type: emrCluster, Path: "bootstrapActions", Rule: "at most 16 bootstrap actions",
			Source: "EMR Management Guide, Bootstrap actions", Holds: maxItems(16), Pass: []any{}, Fail: make([]any, 17)},
		{Type: emrCluster, Path: "bootstrapActions[*].path", Rule: "must be an s3:// URI or file:// path",
			Source: "EMR API, ScriptBootstrapActionConfig", Holds: matches(`^(s3|s3a|s3n|file)://.+`), Pass: "s3://bucket/artifacts/x.sh",
			Fail: "x.sh"},
		{Type: emrCluster, Path: "bootstrapActions[*].args[*]", Rule: "must have at most 10280 characters",
			Source: "EMR API, ScriptBootstrapActionConfig", Holds: maxLength(10280), Pass: "10.0.0.10", Fail: strings.Repeat("x", 10281)},
		{Type: emrCluster, Path: "masterInstanceGroup.instanceCount", Rule: "must be 1 or 3",
			Source: "EMR Management Guide, Multiple primary nodes", Holds: oneOfNumbers(1, 3), Pass: 3.0, Fail: 2.0},
		{Type: emrCluster, Path: "coreInstanceGroup.instanceCount", Rule: "must be at least 1", Source: emrGroups,
			Holds: between(1, math.MaxInt32), Pass: 1.0, Fail: 0.0},
		{Type: emrCluster, Path: "configurations", Rule: "must not be used: the provider fetches it itself and only logs a failure",
			Remedy: "use configurationsJson", Source: "terraform-provider-aws emr/cluster.go", Holds: func(any) bool { return false },
			Pass: nil, Fail: "https://example.com/c.json"},
		{Type: emrCluster, Path: "ec2Attributes", Rule: "subnetId and subnetIds exclude each other",
			Source: "EMR API, JobFlowInstancesConfig",
			Holds:  onObject(func(o object) bool { return !isSet(o, "subnetId") || !isSet(o, "subnetIds") }), Pass: object{"subnetId": "s"},
			Fail: object{"subnetId": "s", "subnetIds": []any{"s"}}},
		{Type: emrCluster, Path: "steps[*].actionOnFailure", Rule: "must be TERMINATE_CLUSTER, CANCEL_AND_WAIT or CONTINUE",
			Source: "EMR API, StepConfig", Holds: oneOf("TERMINATE_JOB_FLOW", "TERMINATE_CLUSTER", "CANCEL_AND_WAIT", "CONTINUE"),
			Pass: "CONTINUE", Fail: "IGNORE"},
		{Type: emrCluster, Path: "placementGroupConfigs[*]", Rule: "must be instanceRole MASTER with placementStrategy SPREAD",
			Source: "EMR API, PlacementGroupConfig", Holds: onObject(isMasterSpread),
			Pass: object{"instanceRole": "MASTER", "placementStrategy": "SPREAD"},
			Fail: object{"instanceRole": "CORE", "placementStrategy": "CLUSTER"}},
	}
}

// clusterRelationRules cover fields of a cluster that depend on each other.
func clusterRelationRules() []Rule {
	return []Rule{
		{Type: emrCluster, Rule: "instance groups and instance fleets exclude each other",
			Remedy: "use one of the two for master and core", Source: "EMR Management Guide, Instance fleets or groups",
			Holds: onObject(groupsOrFleets), Pass: object{"masterInstanceGroup": object{}},
			Fail: object{"masterInstanceGroup": object{}, "coreInstanceFleet": object{}}},
		{Type: emrCluster, Rule: "three masters need a core instance group",
			Source: "EMR Management Guide, Multiple primary nodes", Holds: onObject(threeMastersHaveCore),
			Pass: object{"masterInstanceGroup": object{"instanceCount": 3.0}, "coreInstanceGroup": object{}},
			Fail: object{"masterInstanceGroup": object{"instanceCount": 3.0}}},
		{Type: emrCluster,
			Rule:   "applications must exist in the release: AmazonCloudWatchAgent from 7.0, Ganglia to 6.15, MXNet to 7.2, Sqoop to 7.4",
			Remedy: "remove the application, or choose another release", Source: "EMR Release Guide, Sqoop release history, Apache MXNet",
			Holds: onObject(applicationsExistInRelease), Pass: object{"releaseLabel": "emr-7.4.0", "applications": []any{"Sqoop"}},
			Fail: object{"releaseLabel": "emr-7.5.0", "applications": []any{"Sqoop"}}},
		{Type: emrCluster, Rule: "more than one step at a time needs steps whose actionOnFailure is CONTINUE", Source: emrDoc,
			Holds: onObject(concurrentStepsContinue),
			Pass:  object{"stepConcurrencyLevel": 2.0, "steps": []any{object{"actionOnFailure": "CONTINUE"}}},
			Fail:  object{"stepConcurrencyLevel": 2.0, "steps": []any{object{"actionOnFailure": "CANCEL_AND_WAIT"}}}},
		{Type: emrCluster, Rule: "kerberosAttributes need a securityConfiguration",
			Source: "EMR Management Guide, Security configuration and cluster settings for Kerberos",
			Holds:  onObject(func(o object) bool { return !isSet(o, "kerberosAttributes") || isSet(o, "securityConfiguration") }),
			Pass:   object{"kerberosAttributes": object{"realm": "EC2.INTERNAL"}, "securityConfiguration": "s"},
			Fail:   object{"kerberosAttributes": object{"realm": "EC2.INTERNAL"}}},
		{Type: emrCluster, Rule: "autoscalingRole is needed where an instance group has an autoscalingPolicy",
			Source: "EMR Management Guide, Automatic scaling", Holds: onObject(scalingPolicyHasRole),
			Pass: object{"coreInstanceGroup": object{"autoscalingPolicy": "{}"}, "autoscalingRole": "r"},
			Fail: object{"coreInstanceGroup": object{"autoscalingPolicy": "{}"}}},
	}
}

// emrRules cover EMR's resources other than the cluster.
func emrRules() []Rule {
	return []Rule{
		{Type: emrTask, Path: "instanceCount", Rule: "must not be negative", Source: emrGroups, Holds: between(0, math.MaxInt32), Pass: 0.0,
			Fail: -1.0},
		{Type: "aws:emr/managedScalingPolicy:ManagedScalingPolicy", Path: "computeLimits[*]",
			Rule:   "unitType must be InstanceFleetUnits, Instances or VCPU, and minimum ≤ maximum with maximum core and on-demand within it",
			Source: "EMR API, ComputeLimits", Holds: onObject(validComputeLimits),
			Pass: object{"unitType": "Instances", "minimumCapacityUnits": 1.0, "maximumCapacityUnits": 4.0},
			Fail: object{"unitType": "Instances", "minimumCapacityUnits": 5.0, "maximumCapacityUnits": 4.0}},
		{Type: "aws:emr/securityConfiguration:SecurityConfiguration", Path: "configuration",
			Rule:   "must be JSON with only objects EMR accepts, with exact key names",
			Remedy: "see the Management Guide, Create a security configuration", Source: "EMR Management Guide, Security configurations",
			Holds: onString(isSecurityConfiguration),
			Pass:  `{"EncryptionConfiguration":{"EnableInTransitEncryption":false,"EnableAtRestEncryption":false}}`,
			Fail:  `{"encryptionConfiguration":{}}`},
	}
}

// instanceGroupRules cover the instance groups of a cluster and task instance groups.
func instanceGroupRules() []Rule {
	var out []Rule
	for _, group := range []string{"masterInstanceGroup", "coreInstanceGroup"} {
		out = append(out, instanceGroupRulesAt(emrCluster, group+".")...)
	}
	return append(out, instanceGroupRulesAt(emrTask, "")...)
}

// instanceGroupRulesAt cover the instance group whose fields are below prefix.
func instanceGroupRulesAt(typ, prefix string) []Rule {
	ebs := prefix + "ebsConfigs[*]"
	return []Rule{
		{Type: typ, Path: prefix + "instanceType", Rule: "must look like family.size and be at least .large",
			Remedy: "write e.g. m5.xlarge", Source: "EMR Management Guide, Supported instance types",
			Holds: both(onString(instanceTypePattern.MatchString), matches(`\.(large|[0-9]*xlarge|metal.*)$`)), Pass: "m5.xlarge",
			Fail: "t3.micro"},
		{Type: typ, Path: prefix + "bidPrice", Rule: "must be a price in USD", Source: emrGroups, Holds: matches(`^\d+(\.\d+)?$`),
			Pass: "0.30", Fail: "$1"},
		enum(typ, ebs+".type", "EMR API, VolumeSpecification", "gp3", "nvme", "gp3", "gp2", "io1", "st1", "sc1", "standard"),
		{Type: typ, Path: ebs, Rule: "size must fit the type (gp2, gp3 from 1, io1 from 4, st1, sc1 from 125 GiB)",
			Source: "EMR API, VolumeSpecification", Holds: onObject(func(o object) bool { return volumeSize(o, "type", "gp2") }),
			Pass: object{"type": "gp3", "size": 64.0}, Fail: object{"type": "gp3", "size": 0.0}},
		{Type: typ, Path: ebs, Rule: "throughput (125 to 1000 MiB/s) and IOPS must fit the type", Source: "EMR API, VolumeSpecification",
			Holds: onObject(isEMRVolumePerformance), Pass: object{"type": "gp3", "throughput": 125.0},
			Fail: object{"type": "gp2", "throughput": 125.0}},
		limits(typ, ebs+".volumesPerInstance", storageGuide, "", 1, emrlimits.MaxVolumes, 1, 0),
		{Type: typ, Path: prefix + "ebsConfigs", Rule: "an instance takes 25 volumes, the root volume among them",
			Remedy: "use fewer, larger volumes", Source: storageGuide, Holds: volumesFitInstance,
			Pass: []any{object{"volumesPerInstance": 12.0}, object{"volumesPerInstance": 12.0}},
			Fail: []any{object{"volumesPerInstance": 12.0}, object{"volumesPerInstance": 13.0}}},
	}
}
