"""Opens the persistent UI of a cluster with boto3, and checks the rules of UIs."""
import http.cookiejar
import json
import ssl
import sys
import time
import urllib.error
import urllib.request

import boto3
from botocore.exceptions import ClientError

cluster, in_s3, several, ca = sys.argv[1:]
emr = boto3.client("emr")


def arn(cluster, partition="aws", region="eu-west-1", account="123456789012"):
    return f"arn:{partition}:elasticmapreduce:{region}:{account}:cluster/{cluster}"


def refused(call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        assert error.response["Error"]["Code"] == "InvalidRequestException", error
        return error.response["Error"]["Message"]
    raise AssertionError(f"{call} was not refused")


create, describe = emr.create_persistent_app_ui, emr.describe_persistent_app_ui
presign, live = emr.get_persistent_app_ui_presigned_url, emr.get_on_cluster_app_ui_presigned_url
assert "are not in HDFS" in refused(create, TargetResourceArn=arn(in_s3))
assert "multiple primary nodes" in refused(create, TargetResourceArn=arn(several))
assert "no such cluster" in refused(create, TargetResourceArn=arn("j-ABSENT"))
assert "no such cluster" in refused(create, TargetResourceArn=arn(cluster, account="210987654321"))
assert "must be arn:" in refused(create, TargetResourceArn="arn:aws:s3:::" + cluster)
assert "SHS only" in refused(create, TargetResourceArn=arn(cluster), ProfilerType="TEZUI")
assert "is not valid" in refused(describe, PersistentAppUIId="p-ABSENT")
assert "is not valid" in refused(presign, PersistentAppUIId="p-ABSENT")

tags = [{"Key": "team", "Value": "data"}]
created = create(TargetResourceArn=arn(cluster), ProfilerType="SHS", Tags=tags)
ui = created["PersistentAppUIId"]
assert ui.startswith("p-") and created["RuntimeRoleEnabledCluster"] is False, created
described = describe(PersistentAppUIId=ui)["PersistentAppUI"]
assert described["PersistentAppUIStatus"] == "STARTING", described
assert described["PersistentAppUITypeList"] == ["SHS"] and described["Tags"] == tags, described
early = presign(PersistentAppUIId=ui, PersistentAppUIType="SHS")
assert early["PresignedURLReady"] is False and "PresignedURL" not in early, early
china = create(TargetResourceArn=arn(cluster, "aws-cn", "cn-north-1"))["PersistentAppUIId"]
government = create(TargetResourceArn=arn(cluster, "aws-us-gov", "us-gov-west-1"))["PersistentAppUIId"]
assert len({ui, china, government}) == 3

deadline = time.time() + 60
while describe(PersistentAppUIId=ui)["PersistentAppUI"]["PersistentAppUIStatus"] != "ATTACHED":
    assert time.time() < deadline
    time.sleep(0.1)
assert "SHS only" in refused(presign, PersistentAppUIId=ui, PersistentAppUIType="TEZ")
ready = presign(PersistentAppUIId=ui)
assert ready["PresignedURLReady"], ready

jar = http.cookiejar.CookieJar()
trust = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=ca))
browser = urllib.request.build_opener(trust, urllib.request.HTTPCookieProcessor(jar))
page = browser.open(ready["PresignedURL"])
assert page.url.endswith("/shs/"), page.url
assert all(c.secure and c.has_nonstandard_attr("HttpOnly") for c in jar) and len(jar) == 1, jar
assert json.load(browser.open(page.url + "api/v1/applications")) == []
try:
    urllib.request.build_opener(trust).open(ready["PresignedURL"])
    raise AssertionError("the URL worked twice")
except urllib.error.HTTPError as error:
    assert error.code == 403, error

assert live(ClusterId=cluster, DryRun=True)["PresignedURLReady"]
opened = live(ClusterId=cluster, OnClusterAppUIType="ApplicationMaster", ApplicationId="application_1_0001")
assert opened["PresignedURL"] != ready["PresignedURL"], opened
assert "ApplicationId is required" in refused(live, ClusterId=cluster, OnClusterAppUIType="ApplicationMaster")
assert "is not valid" in refused(live, ClusterId=cluster, ApplicationId="app-1")
assert "does not run it" in refused(live, ClusterId=cluster, OnClusterAppUIType="TezUI")
assert "is in state STARTING" in refused(live, ClusterId=several)

for _ in range(197):
    create(TargetResourceArn=arn(cluster))
assert "limit of 200" in refused(create, TargetResourceArn=arn(cluster))
print("boto3 opened it")
