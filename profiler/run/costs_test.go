package run_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// instance gives a cluster an instance in each of its groups, of which the first is the primary.
func (w *world) instances(cluster string) (primary string) {
	w.t.Helper()
	groups, err := w.store.InstanceGroups(cluster)
	require.NoError(w.t, err)
	for i, g := range groups {
		id := fmt.Sprintf("i-%d", i)
		require.NoError(w.t, w.store.PutInstance(cluster, types.Instance{
			Id: aws.String("ci-" + id), Ec2InstanceId: &id, InstanceGroupId: g.Id, InstanceType: g.InstanceType, Market: g.Market,
			PrivateDnsName: aws.String("ip-" + id + ".ec2.internal"),
			Status:         &types.InstanceStatus{Timeline: &types.InstanceTimeline{CreationDateTime: aws.Time(time.Now().Add(-2 * time.Hour))}},
		}))
	}
	return "i-0"
}

// accounts puts a resource manager's log that accounts for applications.
func (w *world) accounts(cluster, primary, log string, ids ...string) {
	var lines []string
	ended := time.Now()
	for _, id := range ids {
		lines = append(lines, fmt.Sprintf(`INFO RMAppManager$ApplicationSummary: appId=%s,name=of %s,appMasterHost=ip-i-1.ec2.internal,`+
			`startTime=%d,finishTime=%d,memorySeconds=1024,vcoreSeconds=60`, id, id, ended.Add(-time.Minute).UnixMilli(), ended.UnixMilli()))
	}
	w.putObject(managerLog(cluster, primary, log), strings.Join(lines, "\n"))
}

// managerLog returns the key of a resource manager's log below the log URI.
func managerLog(cluster, primary, log string) string {
	return platform.NodeLogPrefix(cluster, primary, platform.YARNLogs) + platform.ResourceManagerLog + "-ip-10-0-0-1" + log
}

// putCut archives a log that lacks its end.
func (w *world) putCut(key string) {
	w.t.Helper()
	var zipped bytes.Buffer
	writer := gzip.NewWriter(&zipped)
	fmt.Fprint(writer, strings.Repeat("INFO line\n", 1000))
	require.NoError(w.t, writer.Close())
	require.NoError(w.t, w.s3.Put(w.t.Context(), bucket, string(platform.PrefixEMRLogs)+key, zipped.Bytes()[:zipped.Len()/2]))
}

// A cluster's rows of costs and application_costs add up, have what YARN accounted, of whatever
// is no Spark too, and a later run reads only new logs.
func TestCostsOfACluster(t *testing.T) {
	w := newWorld(t)
	request := emrapitest.JobFlow()
	request.Instances.InstanceGroups = append(request.Instances.InstanceGroups, types.InstanceGroupConfig{
		InstanceRole: types.InstanceRoleTypeCore, InstanceType: aws.String("m5.xlarge"), InstanceCount: aws.Int32(1),
	})
	cluster := w.start(request)
	primary := w.instances(cluster)
	w.ran(cluster, "adaptive", appID(1))
	w.step(cluster, appID(1))
	w.accounts(cluster, primary, ".log.2026-11-29-05.gz", appID(1), appID(7))
	w.end(cluster, time.Hour)
	w.run(w.options())

	costs := readLake[tables.Cost](w)
	require.Len(t, costs, 2)
	rows := readLake[tables.ApplicationCost](w)
	kinds := map[string]tables.ApplicationCost{}
	usd := 0.0
	for _, row := range rows {
		kinds[row.Kind+row.ApplicationID] = row
		usd += *row.USD
	}
	require.Len(t, kinds, 4)
	require.InDelta(t, *costs[0].USD+*costs[1].USD, usd, 1e-9)
	require.Equal(t, tables.BasisYARN, kinds["application"+appID(1)].Basis)
	require.EqualValues(t, 60, *kinds["application"+appID(1)].VCoreSeconds)
	require.Equal(t, "of "+appID(7), kinds["application"+appID(7)].ApplicationName)
	require.InDelta(t, 1./60, *kinds["application"+appID(7)].CoreHours, 1e-9)
	require.Equal(t, tables.BasisNodes, kinds["idle"].Basis)
	require.Greater(t, *kinds["application"+appID(7)].USD, 0.)
}

// Of a cluster that runs, a later run keeps what an earlier one has read of YARN's accounting, and
// adds what was uploaded since.
func TestLaterRunsKeepAccounts(t *testing.T) {
	w := newWorld(t)
	cluster := w.cluster("alive")
	w.busy(cluster)
	primary := w.instances(cluster)
	w.accounts(cluster, primary, ".log.2026-11-29-05.gz", appID(7))
	w.run(w.options())
	w.accounts(cluster, primary, ".log.gz", appID(8))
	w.run(w.options())
	names := []string{}
	for _, row := range readLake[tables.ApplicationCost](w) {
		names = append(names, row.Kind+" "+row.ApplicationName)
	}
	require.Equal(t, []string{"application of " + appID(7), "application of " + appID(8), "idle "}, names)

	w.putCut(managerLog(cluster, primary, ".log.2026-11-29-06.gz"))
	cut, _ := w.run(w.options())
	require.NotContains(t, fmt.Sprint(cut.Incomplete), "yarn_log", "a log that was cut is read up to there")

	w.accounts(cluster, primary, ".log.gz", appID(8)) // EMR uploads it again
	w.fail(string(platform.PrefixEMRLogs) + managerLog(cluster, primary, ".log.gz"))
	unread, _ := w.run(w.options())
	require.Contains(t, fmt.Sprint(unread.Incomplete), "yarn_log: read s3://")
	require.Len(t, readLake[tables.ApplicationCost](w), 3, "nothing is lost")

	w.fail()
	w.run(w.options())
	again, _ := w.run(w.options())
	require.Zero(t, again.Objects+again.Removed, "nothing has happened since: %+v", again)

	w.fail(source.OpListInstances)
	summary, _ := w.run(w.options())
	require.Contains(t, fmt.Sprint(summary.Incomplete), "ListInstances: list the instances")
	require.Len(t, readLake[tables.ApplicationCost](w), 3, "by the instances of the earlier run")
	require.NotNil(t, readLake[tables.Cost](w)[0].USD)
	require.Len(t, readLake[tables.Instance](w), 1)
}

// Without the right to list instances there are no costs, and the cluster is not read again and
// again. Without its logs, core-hours come from the history.
func TestCostsWithoutRights(t *testing.T) {
	w := newWorld(t)
	cluster := w.cluster("etl")
	w.ran(cluster, "adaptive", appID(1))
	w.step(cluster, appID(1))
	w.end(cluster, time.Hour)
	w.faults = map[string]error{source.OpListInstances: &smithy.GenericAPIError{
		Code: "AccessDeniedException", Message: "not authorized to perform: elasticmapreduce:ListInstances",
	}}
	summary, _ := w.run(w.options())
	require.Contains(t, fmt.Sprint(summary.Incomplete), "grant the profiler's role elasticmapreduce:ListInstances")
	require.Nil(t, readLake[tables.Cost](w)[0].InstanceSeconds)
	require.Empty(t, readLake[tables.ApplicationCost](w))
	again, _ := w.run(w.options())
	require.Equal(t, 1, again.ClustersCurrent)
}

// forgetInstances leaves no instance in EMR's lists.
func forgetInstances(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleInitialize(ctx, in)
	if list, is := out.Result.(*emr.ListInstancesOutput); is {
		list.Instances = nil
	}
	return out, metadata, err
}

// EMR forgets an instance 30 days after its end: the tables keep it. An instance that says no end
// had one with its cluster.
func TestInstancesThatEMRForgets(t *testing.T) {
	w := newWorld(t)
	cluster := w.cluster("etl")
	w.instances(cluster)
	w.ran(cluster, "adaptive", appID(1))
	w.step(cluster, appID(1))
	w.run(w.options())
	require.Len(t, readLake[tables.Instance](w), 1)
	w.aws.APIOptions = append(w.aws.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Forget", forgetInstances), middleware.Before)
	})
	w.end(cluster, time.Hour)
	w.run(w.options())
	kept := readLake[tables.Instance](w)
	require.Len(t, kept, 1)
	require.Equal(t, readLake[tables.ClusterSummary](w)[0].EndTime, kept[0].EndTime)
	require.Equal(t, (kept[0].EndTime-kept[0].CreatedTime)/1000, *readLake[tables.Cost](w)[0].InstanceSeconds)
}
