package cloud_test

import (
	"context"
	"fmt"
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
	c.requireSchedule(t, func(s status.Schedule) error {
		if s.Last == nil || s.Last.State != "COMPLETED" {
			return fmt.Errorf("last run: %v", s.Last)
		}
		return nil
	})
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
