package source

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"
)

// All obstacles are named at once, and nothing else is.
func TestObstacles(t *testing.T) {
	now := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	ended := func(at time.Time) *types.ClusterStatus {
		return &types.ClusterStatus{Timeline: &types.ClusterTimeline{EndDateTime: &at}}
	}
	fits := types.Cluster{ReleaseLabel: aws.String("emr-5.25.0"), Status: ended(now.AddDate(0, 0, -30)), Configurations: []types.Configuration{
		{Classification: aws.String("spark-defaults"), Properties: map[string]string{"spark.eventLog.dir": "hdfs:///var/log/spark/apps"}},
		{Classification: aws.String("hive-site"), Properties: map[string]string{"spark.eventLog.dir": "s3://b/k"}},
	}}
	require.NoError(t, persistentObstacles(fits, 1, now))
	require.NoError(t, persistentObstacles(types.Cluster{ReleaseLabel: aws.String("emr-7.10.0")}, 1, now), "still running")

	never := types.Cluster{ReleaseLabel: aws.String("emr-4.9.6"), Status: ended(now.AddDate(0, 0, -31)), Configurations: []types.Configuration{
		{Classification: aws.String("spark-defaults"), Properties: map[string]string{"spark.eventLog.dir": "s3a://b/k"}},
	}}
	require.EqualError(t, persistentObstacles(never, 3, now),
		`release emr-4.9.6 is older than emr-5.25.0, the first whose history outlives the cluster; `+
			`copy its event logs from HDFS while it runs, and read their folder with --logs
Spark writes its event logs to s3a://b/k, and EMR keeps only those in HDFS; copy them to s3://bucket/prefix/, and read that with --logs
it has 3 primary nodes, and EMR keeps a history only of clusters with one; `+
			`have Spark write its event logs to S3 (spark.eventLog.dir), and read that folder with --logs
it ended on 2026-10-24, and EMR keeps a history for 30 days; run the profiler more often`)
}
