package cloud_test

// teamsRoles makes what another team has before it starts a cluster: a role for EMR, and
// one for the nodes that lets their jobs work in the lake. It does not attach the policy
// of the output observe.
const teamsRoles = `
import boto3, json, sys
iam, stack = boto3.client("iam"), json.load(sys.stdin)
bucket = "arn:aws:s3:::" + stack["dataBucket"]
def trust(service):
    return json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": service + ".amazonaws.com"}}]})
iam.create_role(RoleName="airflow-emr", AssumeRolePolicyDocument=trust("elasticmapreduce"))
iam.attach_role_policy(RoleName="airflow-emr", PolicyArn="arn:aws:iam::aws:policy/service-role/AmazonEMRServicePolicy_v2")
iam.create_role(RoleName="airflow-nodes", AssumeRolePolicyDocument=trust("ec2"))
iam.put_role_policy(RoleName="airflow-nodes", PolicyName="lake", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": bucket, "Condition": {"StringLike": {"s3:prefix": ["lake", "lake/*"]}}},
    {"Effect": "Allow", "Action": "s3:GetBucketLocation", "Resource": bucket},
    {"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"], "Resource": bucket + "/lake/*"}]}))
iam.create_instance_profile(InstanceProfileName="airflow-nodes")
iam.add_role_to_instance_profile(InstanceProfileName="airflow-nodes", RoleName="airflow-nodes")
`

// startForeign starts a cluster as that team's script does: from the stack's output
// observe, with its own roles, and with EMR's own security groups since it names none.
const startForeign = `
import boto3, json, sys, time
emr, stack = boto3.client("emr"), json.load(sys.stdin)
observe = stack["observe"]
configurations = observe["configurations"]
for c in configurations:
    if c["Classification"] == "spark-defaults":  # its history server compacts rolled logs early
        c["Properties"].update({"spark.history.fs.eventLog.rolling.maxFilesToRetain": "1",
                                "spark.history.fs.eventLog.rolling.compaction.score.threshold": "0.0"})
def run(groups):
    return emr.run_job_flow(
        Name="airflow-nightly", ReleaseLabel="emr-7.10.0", Applications=[{"Name": "Hadoop"}, {"Name": "Spark"}],
        ServiceRole="airflow-emr", JobFlowRole="airflow-nodes", LogUri="s3://" + stack["dataBucket"] + "/lake/logs-of-airflow/",
        Configurations=configurations, Tags=[{"Key": key, "Value": value} for key, value in observe["tags"].items()],
        BootstrapActions=[{"Name": "observatory", "ScriptBootstrapAction": {
            "Path": observe["bootstrap"]["path"], "Args": observe["bootstrap"]["args"]}}],
        Instances={
            "InstanceGroups": [
                {"InstanceRole": "MASTER", "InstanceType": "m5.xlarge", "InstanceCount": 1},
                {"InstanceRole": "CORE", "InstanceType": "m5.xlarge", "InstanceCount": 1},
            ],
            "Ec2SubnetId": stack["network"]["subnetIds"][0], "KeepJobFlowAliveWhenNoSteps": True, **groups,
        },
    )["JobFlowId"]
def start(groups):
    deadline = time.monotonic() + 120
    while True:
        try:
            return run(groups)
        except emr.exceptions.ClientError as refusal:  # EMR does not see an instance profile that is seconds old
            if "Invalid InstanceProfile" not in str(refusal) or time.monotonic() > deadline:
                raise
            time.sleep(1)
`

// lackingCluster is one whose role may not read the bootstrap action, and whose core
// nodes lack the group. It prints how it ended, after its id.
const lackingCluster = startForeign + `
id = start({"AdditionalMasterSecurityGroups": [observe["securityGroupId"]]})
deadline = time.monotonic() + 300
while True:
    status = emr.describe_cluster(ClusterId=id)["Cluster"]["Status"]
    if status["State"] in ("WAITING", "TERMINATED_WITH_ERRORS") or time.monotonic() > deadline:
        break
    time.sleep(1)
reason = status["StateChangeReason"]
print(id, status["State"], reason["Code"], reason["Message"], status["ErrorDetails"][0]["ErrorCode"])
`

const foreignCluster = startForeign + `
boto3.client("iam").attach_role_policy(RoleName="airflow-nodes", PolicyArn=observe["nodePolicyArn"])
id = start({"AdditionalMasterSecurityGroups": [observe["securityGroupId"]], "AdditionalSlaveSecurityGroups": [observe["securityGroupId"]]})
emr.get_waiter("cluster_running").wait(ClusterId=id, WaiterConfig={"Delay": 2, "MaxAttempts": 300})
print(id)
`

// foreignEnd removes the cluster and the roles: IAM deletes no policy of the stack that
// is attached to one.
const foreignEnd = `
import boto3, json, sys
emr, iam, (id, policy) = boto3.client("emr"), boto3.client("iam"), json.load(sys.stdin)
emr.terminate_job_flows(JobFlowIds=[id])
emr.get_waiter("cluster_terminated").wait(ClusterId=id, WaiterConfig={"Delay": 2, "MaxAttempts": 300})
iam.detach_role_policy(RoleName="airflow-nodes", PolicyArn=policy)
iam.delete_role_policy(RoleName="airflow-nodes", PolicyName="lake")
iam.remove_role_from_instance_profile(InstanceProfileName="airflow-nodes", RoleName="airflow-nodes")
iam.delete_instance_profile(InstanceProfileName="airflow-nodes")
iam.delete_role(RoleName="airflow-nodes")
iam.detach_role_policy(RoleName="airflow-emr", PolicyArn="arn:aws:iam::aws:policy/service-role/AmazonEMRServicePolicy_v2")
iam.delete_role(RoleName="airflow-emr")
`
