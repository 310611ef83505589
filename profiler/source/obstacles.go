package source

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// historyDays is the number of days for which EMR keeps an application's history after its
// end.
const historyDays = 30

var releaseLabel = regexp.MustCompile(`^emr-([0-9]+)\.([0-9]+)\.`)

// persistentObstacles returns all reasons why a cluster has no persistent history server
// (EMR Management Guide, "View persistent application user interfaces"), nil if EMR's API
// shows none.
func persistentObstacles(c types.Cluster, primaries int, now time.Time) error {
	var found []error
	add := func(reason, remedy string) { found = append(found, &Obstacle{Reason: reason, Remedy: remedy}) }
	label := aws.ToString(c.ReleaseLabel)
	if number := releaseLabel.FindStringSubmatch(label); number != nil {
		major, _ := strconv.Atoi(number[1])
		if minor, _ := strconv.Atoi(number[2]); major < 5 || major == 5 && minor < 25 {
			add("release "+label+" is older than emr-5.25.0, the first whose history outlives the cluster",
				"copy its event logs from HDFS while it runs, and read their folder with --logs")
		}
	}
	if dir := eventLogDir(c); strings.Contains(dir, "://") && !strings.HasPrefix(dir, "hdfs://") {
		add("Spark writes its event logs to "+dir+", and EMR keeps only those in HDFS",
			"copy them to s3://bucket/prefix/, and read that with --logs")
	}
	if primaries > 1 {
		add(fmt.Sprintf("it has %d primary nodes, and EMR keeps a history only of clusters with one", primaries),
			"have Spark write its event logs to S3 (spark.eventLog.dir), and read that folder with --logs")
	}
	if m := c.MonitoringConfiguration; m != nil && m.S3LoggingConfiguration != nil {
		if m.S3LoggingConfiguration.LogTypeUploadPolicy[string(types.LogTypePersistentUiLogs)] == types.LogUploadPolicyValueDisabled {
			add("its upload policy for persistent-ui-logs is disabled",
				"set it to emr-managed in the monitoring configuration of the cluster that replaces it")
		}
	}
	if end := endOf(c); !end.IsZero() && now.Sub(end) > historyDays*24*time.Hour {
		add(fmt.Sprintf("it ended on %s, and EMR keeps a history for %d days", end.UTC().Format(time.DateOnly), historyDays),
			"run the profiler more often")
	}
	return errors.Join(found...)
}

func endOf(c types.Cluster) time.Time {
	if c.Status == nil || c.Status.Timeline == nil {
		return time.Time{}
	}
	return aws.ToTime(c.Status.Timeline.EndDateTime)
}

// eventLogDir returns spark.eventLog.dir as the cluster's configuration sets it, or "" if
// it does not: EMR's default is a directory in HDFS.
func eventLogDir(c types.Cluster) (dir string) {
	for _, set := range c.Configurations {
		if value := set.Properties["spark.eventLog.dir"]; value != "" && aws.ToString(set.Classification) == "spark-defaults" {
			dir = value
		}
	}
	return dir
}
