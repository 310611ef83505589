"""Runs steps on one cluster with boto3, and checks every answer of the API."""
import datetime
import sys

import boto3
from botocore.exceptions import ClientError, WaiterError

cluster = sys.argv[1]
emr = boto3.client("emr")


def step(name):
    return {
        "Name": name,
        "ActionOnFailure": "CONTINUE",
        "HadoopJarStep": {
            "Jar": "command-runner.jar",
            "Args": ["spark-submit", "s3://data/job.py"],
            "Properties": [{"Key": "k", "Value": "v"}],
        },
    }


def rejected(code, call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        assert error.response["Error"]["Code"] == code, error
        return error.response["Error"]["Message"]
    raise AssertionError(f"{call} was not rejected")


fast = {"Delay": 1, "MaxAttempts": 150}
emr.get_waiter("cluster_running").wait(ClusterId=cluster, WaiterConfig=fast)
described = emr.describe_cluster(ClusterId=cluster)["Cluster"]
created = described["Status"]["Timeline"]["CreationDateTime"]
age = datetime.datetime.now(datetime.timezone.utc) - created
assert datetime.timedelta(0) <= age < datetime.timedelta(minutes=5), age
assert described["Configurations"][0]["Properties"] == {"spark.ui.enabled": "true"}

ids = emr.add_job_flow_steps(JobFlowId=cluster, Steps=[step(str(i)) for i in range(60)])["StepIds"]
emr.get_waiter("step_complete").wait(ClusterId=cluster, StepId=ids[-1], WaiterConfig=fast)
pages = list(emr.get_paginator("list_steps").paginate(ClusterId=cluster))
assert [len(p["Steps"]) for p in pages] == [50, 10]
assert [s["Id"] for p in pages for s in p["Steps"]] == ids[::-1]
assert pages[0]["Steps"][0]["Config"]["Properties"] == {"k": "v"}

failing = emr.add_job_flow_steps(JobFlowId=cluster, Steps=[step("fail")])["StepIds"][0]
try:
    emr.get_waiter("step_complete").wait(ClusterId=cluster, StepId=failing, WaiterConfig=fast)
    raise AssertionError("the waiter saw no failure")
except WaiterError as error:
    details = error.last_response["Step"]["Status"]["FailureDetails"]
    assert details["Reason"] == "Application exception", details

since = created - datetime.timedelta(seconds=1)
assert [c["Id"] for c in emr.list_clusters(CreatedAfter=since)["Clusters"]] == [cluster]
assert emr.list_clusters(CreatedBefore=since)["Clusters"] == []
assert emr.list_instances(ClusterId=cluster, InstanceGroupTypes=["TASK"])["Instances"] == []
assert len(emr.list_instance_groups(ClusterId=cluster)["InstanceGroups"]) == 2
assert emr.list_bootstrap_actions(ClusterId=cluster)["BootstrapActions"][0]["ScriptPath"] == "s3://data/x.sh"
assert "is not valid" in rejected("InvalidRequestException", emr.describe_cluster, ClusterId="j-ABSENT")
assert "mutually exclusive" in rejected("InvalidRequestException", emr.list_instance_fleets, ClusterId=cluster)
rejected("ValidationException", emr.add_job_flow_steps, JobFlowId="j-ABSENT", Steps=[step("x")])

emr.terminate_job_flows(JobFlowIds=[cluster])
emr.get_waiter("cluster_terminated").wait(ClusterId=cluster, WaiterConfig=fast)
print("boto3 read it all")
