"""Starts clusters with boto3 and requires that the API gives back what was given."""
import boto3
from botocore.exceptions import ClientError

emr = boto3.client("emr")
fast = {"Delay": 1, "MaxAttempts": 150}
configurations = [
    {"Classification": "spark-defaults", "Properties": {"spark.a": "1"}},
    {"Classification": "spark-env", "Properties": {}, "Configurations": [{"Classification": "export", "Properties": {"A": "b"}}]},
]
request = dict(
    Name="foreign",
    ReleaseLabel="emr-7.10.0",
    OSReleaseLabel="2023.7.20250512.0",
    Applications=[{"Name": "Hadoop"}, {"Name": "Spark"}],
    LogUri="s3://data/emr-logs/foreign/",
    LogEncryptionKmsKeyId="arn:aws:kms:eu-west-1:123456789012:key/k",
    ServiceRole="service",
    JobFlowRole="nodes",
    AutoScalingRole="scaling",
    SecurityConfiguration="security",
    CustomAmiId="ami-0123",
    EbsRootVolumeSize=32,
    EbsRootVolumeIops=4000,
    EbsRootVolumeThroughput=250,
    ScaleDownBehavior="TERMINATE_AT_INSTANCE_HOUR",
    StepConcurrencyLevel=2,
    Configurations=configurations,
    PlacementGroupConfigs=[{"InstanceRole": "MASTER", "PlacementStrategy": "SPREAD"}],
    KerberosAttributes={"Realm": "EC2.INTERNAL", "KdcAdminPassword": "not-to-be-kept"},
    AutoTerminationPolicy={"IdleTimeout": 3600},
    ManagedScalingPolicy={"ComputeLimits": {"UnitType": "Instances", "MinimumCapacityUnits": 1, "MaximumCapacityUnits": 4}},
    Tags=[{"Key": "team", "Value": "data"}],
    VisibleToAllUsers=True,
    BootstrapActions=[
        {"Name": "first", "ScriptBootstrapAction": {"Path": "s3://data/first.sh", "Args": ["a", "b"]}},
        {"Name": "second", "ScriptBootstrapAction": {"Path": "s3://data/second.sh", "Args": []}},
    ],
    Instances={
        "KeepJobFlowAliveWhenNoSteps": True,
        "TerminationProtected": True,
        "UnhealthyNodeReplacement": True,
        "Ec2SubnetId": "subnet-1",
        "Ec2KeyName": "key",
        "EmrManagedMasterSecurityGroup": "sg-master",
        "EmrManagedSlaveSecurityGroup": "sg-core",
        "ServiceAccessSecurityGroup": "sg-service",
        "AdditionalMasterSecurityGroups": ["sg-b", "sg-a"],
        "AdditionalSlaveSecurityGroups": ["sg-b"],
        "InstanceGroups": [
            {"InstanceRole": "MASTER", "InstanceType": "m6g.xlarge", "InstanceCount": 1, "Name": "primary"},
            {
                "InstanceRole": "CORE",
                "InstanceType": "r6g.2xlarge",
                "InstanceCount": 2,
                "Configurations": configurations[:1],
                "EbsConfiguration": {
                    "EbsOptimized": True,
                    "EbsBlockDeviceConfigs": [
                        {
                            "VolumeSpecification": {"VolumeType": "gp3", "SizeInGB": 64, "Iops": 4000, "Throughput": 250},
                            "VolumesPerInstance": 2,
                        }
                    ],
                },
            },
            {"InstanceRole": "TASK", "InstanceType": "c6g.xlarge", "InstanceCount": 1, "Market": "SPOT", "BidPrice": "0.12"},
        ],
    },
)


def rejected(call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        assert error.response["Error"]["Code"] in ("ValidationException", "InvalidRequestException"), error
        return error.response["Error"]["Message"]
    raise AssertionError(f"{call} was not rejected")


answer = emr.run_job_flow(**request)
cluster = answer["JobFlowId"]
assert answer["ClusterArn"] == f"arn:aws:elasticmapreduce:eu-west-1:123456789012:cluster/{cluster}", answer
emr.get_waiter("cluster_running").wait(ClusterId=cluster, WaiterConfig=fast)
c = emr.describe_cluster(ClusterId=cluster)["Cluster"]
for field in (
    "Name ReleaseLabel OSReleaseLabel Applications LogUri LogEncryptionKmsKeyId ServiceRole AutoScalingRole SecurityConfiguration "
    "CustomAmiId EbsRootVolumeSize EbsRootVolumeIops EbsRootVolumeThroughput ScaleDownBehavior StepConcurrencyLevel Tags VisibleToAllUsers"
).split():
    assert c[field] == request[field], (field, c.get(field))
assert c["Configurations"][0] == configurations[0], c["Configurations"]
assert c["Configurations"][1]["Configurations"] == configurations[1]["Configurations"], c["Configurations"]
assert c["PlacementGroups"] == request["PlacementGroupConfigs"]
assert c["KerberosAttributes"] == {"Realm": "EC2.INTERNAL"}, c["KerberosAttributes"]
assert c["TerminationProtected"] and c["UnhealthyNodeReplacement"] and not c["AutoTerminate"]
assert c["InstanceCollectionType"] == "INSTANCE_GROUP"
instances, attributes = request["Instances"], c["Ec2InstanceAttributes"]
for field in (
    "Ec2SubnetId Ec2KeyName EmrManagedMasterSecurityGroup EmrManagedSlaveSecurityGroup ServiceAccessSecurityGroup "
    "AdditionalMasterSecurityGroups AdditionalSlaveSecurityGroups"
).split():
    assert attributes[field] == instances[field], (field, attributes.get(field))
assert attributes["IamInstanceProfile"] == "nodes"

primary, core, task = emr.list_instance_groups(ClusterId=cluster)["InstanceGroups"]
assert (primary["Name"], primary["InstanceGroupType"], primary["Market"]) == ("primary", "MASTER", "ON_DEMAND"), primary
assert core["EbsOptimized"] and core["Configurations"] == configurations[:1], core
assert [d["Device"] for d in core["EbsBlockDevices"]] == ["/dev/sdb", "/dev/sdc"], core
assert core["EbsBlockDevices"][1]["VolumeSpecification"] == {"VolumeType": "gp3", "SizeInGB": 64, "Iops": 4000, "Throughput": 250}
assert (task["Market"], task["BidPrice"], task["RequestedInstanceCount"]) == ("SPOT", "0.12", 1), task
actions = emr.list_bootstrap_actions(ClusterId=cluster)["BootstrapActions"]
assert [(a["Name"], a["ScriptPath"], a["Args"]) for a in actions] == [
    ("first", "s3://data/first.sh", ["a", "b"]),
    ("second", "s3://data/second.sh", []),
], actions
assert emr.get_auto_termination_policy(ClusterId=cluster)["AutoTerminationPolicy"] == request["AutoTerminationPolicy"]
assert emr.get_managed_scaling_policy(ClusterId=cluster)["ManagedScalingPolicy"] == request["ManagedScalingPolicy"]

emr.modify_cluster(ClusterId=cluster, StepConcurrencyLevel=3)
emr.add_tags(ResourceId=cluster, Tags=[{"Key": "team", "Value": "ml"}, {"Key": "new", "Value": "1"}])
emr.remove_tags(ResourceId=cluster, TagKeys=["new"])
emr.set_unhealthy_node_replacement(JobFlowIds=[cluster], UnhealthyNodeReplacement=False)
emr.remove_auto_termination_policy(ClusterId=cluster)
emr.remove_managed_scaling_policy(ClusterId=cluster)
c = emr.describe_cluster(ClusterId=cluster)["Cluster"]
assert (c["StepConcurrencyLevel"], c["Tags"], c["UnhealthyNodeReplacement"]) == (3, [{"Key": "team", "Value": "ml"}], False), c
assert "AutoTerminationPolicy" not in emr.get_auto_termination_policy(ClusterId=cluster)
assert "ManagedScalingPolicy" not in emr.get_managed_scaling_policy(ClusterId=cluster)
assert "termination protected" in rejected(emr.terminate_job_flows, JobFlowIds=[cluster])
emr.set_termination_protection(JobFlowIds=[cluster], TerminationProtected=False)
emr.set_keep_job_flow_alive_when_no_steps(JobFlowIds=[cluster], KeepJobFlowAliveWhenNoSteps=False)
emr.get_waiter("cluster_terminated").wait(ClusterId=cluster, WaiterConfig=fast)
reason = emr.describe_cluster(ClusterId=cluster)["Cluster"]["Status"]["StateChangeReason"]
assert reason["Code"] == "ALL_STEPS_COMPLETED", reason

# A cluster that is not kept alive runs its steps, then ends.
step = {"Name": "s", "ActionOnFailure": "CONTINUE", "HadoopJarStep": {"Jar": "command-runner.jar", "Args": ["true"]}}
transient = dict(request, Steps=[step, step], Instances=dict(instances, KeepJobFlowAliveWhenNoSteps=False, TerminationProtected=False))
cluster = emr.run_job_flow(**transient)["JobFlowId"]
emr.get_waiter("cluster_terminated").wait(ClusterId=cluster, WaiterConfig=fast)
steps = emr.list_steps(ClusterId=cluster)["Steps"]
assert [s["Status"]["State"] for s in steps] == ["COMPLETED"] * 2, steps

wrong = dict(request, ReleaseLabel="7.10", StepConcurrencyLevel=257, AutoTerminationPolicy={"IdleTimeout": 59})
wrong["Instances"] = dict(instances, InstanceFleets=[{"InstanceFleetType": "MASTER"}])
message = rejected(emr.run_job_flow, **wrong)
for part in ("release label is invalid", "StepConcurrencyLevel: 257", "IdleTimeout: 59", "mutually exclusive"):
    assert part in message, message
print("boto3 ran it all")
