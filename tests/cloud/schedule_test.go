package cloud_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// everyMinute is a schedule of steps of the cluster lake.
func everyMinute() []string {
	return []string{
		"schedules.tick.expression=rate(1 minute)", "schedules.tick.cluster=lake", "schedules.tick.retries=0",
		"schedules.tick.steps[0].name=tick", "schedules.tick.steps[0].args[0]=bash", "schedules.tick.steps[0].args[1]=-c",
		"schedules.tick.steps[0].args[2]=echo tick",
	}
}

// endCluster terminates the cluster that it reads.
const endCluster = `
import boto3, sys
boto3.client("emr").terminate_job_flows(JobFlowIds=[sys.stdin.read()])
`

// scheduleRuns requires that the schedule's step has run, and, once its cluster has ended by other hands, that
// the run that did not start is on the status page and counted.
func (c *cloud) scheduleRuns(t *testing.T, cluster string) {
	t.Helper()
	c.requireSchedule(t, completed)
	c.python(t, endCluster, cluster)
	c.requireSchedule(t, func(s status.Schedule) error {
		if len(s.Lost) == 0 {
			return fmt.Errorf("no run was lost: %v", s)
		}
		return nil
	})
	lost := c.status(t).Schedules[0].Lost[0]
	require.Contains(t, lost.Reason, "ValidationException: ")
	require.NotContains(t, lost.Reason, "tick", "what the step does is nobody's reason")
	testenv.Eventually(t, func() bool {
		found := c.query(t, fmt.Sprintf("%s{%s=%q} > 0", platform.MetricLostRuns, platform.LabelSchedule, "tick"))
		return len(found) == 1
	}, testenv.Arrival, time.Second, "the metric counts it")
}

// completed requires that the last run has completed.
func completed(s status.Schedule) error {
	if s.Last == nil || s.Last.State != "COMPLETED" {
		return fmt.Errorf("last run: %v", s.Last)
	}
	return nil
}

// requireSchedule waits until the status has the one schedule as it should be.
func (c *cloud) requireSchedule(t *testing.T, check func(status.Schedule) error) {
	t.Helper()
	err := testenv.Poll(t.Context(), testenv.Cloud, time.Second, func(context.Context) error {
		schedules := c.status(t).Schedules
		if len(schedules) != 1 {
			return fmt.Errorf("schedules: %v", schedules)
		}
		return check(schedules[0])
	})
	require.NoError(t, err)
}

// runs prints the states of the clusters of a name, with their tags and steps.
const runs = `
import boto3, json, sys
emr, name, out = boto3.client("emr"), sys.stdin.read(), []
for c in [c for page in emr.get_paginator("list_clusters").paginate() for c in page["Clusters"] if c["Name"] == name]:
    tags = {t["Key"]: t["Value"] for t in emr.describe_cluster(ClusterId=c["Id"])["Cluster"]["Tags"]}
    out.append({"state": c["Status"]["State"], "tags": tags, "steps": [s["Name"] for s in emr.list_steps(ClusterId=c["Id"])["Steps"]]})
print(json.dumps(out))
`

// putSteps writes the steps of a schedule to the bucket that it reads.
const putSteps = `
import boto3, json, sys
bucket, key = sys.stdin.read(), "lake/steps.json"
steps = [{"name": "report", "args": ["bash", "-c", "echo report"]}]
boto3.client("s3").put_object(Bucket=bucket, Key=key, Body=json.dumps(steps), ContentType="application/json")
print("s3://" + bucket + "/" + key)
`

// eachRunStartsACluster lets a schedule of steps in S3 start a cluster of its own, which has the stack's tags, runs
// the step, reports it, and ends.
func eachRunStartsACluster(t *testing.T, c *cloud) {
	testenv.RequireLong(t, "components/schedules renders the call, localcloud decides who may make it, tests/schema compares its input")
	before := c.outputs(t)
	edits := []string{storeEdit, tagEdit} // of earlier parts, which stay
	object := c.python(t, putSteps, before.DataBucket)
	c.up(t, append(edits, "clusters.nightly.startedBy=schedules", "clusters.nightly.keepAlive=false", "clusters.nightly.idleTimeoutMinutes=0",
		"clusters.nightly.core.count=1", "schedules.nightly.expression=rate(3 hours)", "schedules.nightly.cluster=nightly",
		"schedules.nightly.stepsFrom="+strings.TrimSpace(object))...)
	nightly := c.outputs(t).Clusters["nightly"]
	require.Empty(t, nightly.ID)
	require.NotEmpty(t, nightly.NodeRoleName)
	c.requireSchedule(t, completed)
	var found []struct {
		State string
		Tags  map[string]string
		Steps []string
	}
	testenv.Eventually(t, func() bool {
		require.NoError(t, json.Unmarshal([]byte(c.python(t, runs, nightly.Name)), &found))
		return len(found) == 1 && found[0].State == "TERMINATED"
	}, testenv.Cloud, time.Second, "the run's cluster ends")
	require.Equal(t, "nightly", found[0].Tags[platform.TagCluster])
	require.NotEmpty(t, found[0].Tags[platform.TagStack])
	require.Len(t, found[0].Steps, 1)
	_, key, _, scheduled := platform.ParseScheduledStep(found[0].Steps[0])
	require.True(t, scheduled)
	require.Equal(t, "nightly", key)
	c.up(t, edits...)
	require.Equal(t, before.Clusters, c.outputs(t).Clusters)
}
