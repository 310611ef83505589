// Package source finds the clusters and applications whose history is read: through EMR's
// API and its persistent and on-cluster UIs, in the logs that the clusters of a Databricks workspace
// deliver, at the URL of a history server, or in a folder or bucket of event logs.
//
// It reads only as much history as it takes to identify an application; package fold reads
// the rest. It stores nothing but the ids of persistent UIs.
package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/profiler/workspace"
)

// Source finds clusters.
type Source interface {
	// Discover lists clusters, newest first.
	Discover(ctx context.Context) ([]Listed, error)
	// Estimate returns the minimum time that it takes to open a number of clusters.
	Estimate(clusters int) time.Duration
	// Open describes a cluster and finds its applications. Whatever it could not read is in
	// the cluster's Outcomes; it returns an error only if it could read nothing.
	Open(ctx context.Context, listed Listed) (*Cluster, error)
}

// Listed is a cluster as Discover returns it.
type Listed struct {
	ID      tables.Cluster
	Created time.Time // zero if unknown
	Ended   time.Time // zero while it runs
	// Fingerprint changes when an ended cluster must be opened again.
	Fingerprint string
	// Settled reports that the cluster gets no more applications, steps or logs.
	Settled bool

	// Usage is what an earlier run has read of YARN's accounting, by application. Open uses it.
	Usage map[string]Usage
	// Instances are those that an earlier run has listed, and YARNLogTime is up to when it has read
	// the resource manager's logs. Open uses them.
	Instances   []tables.Instance
	YARNLogTime tables.Millis

	// Earlier are the steps that an earlier run has read. The logs of those whose applications
	// are known are not read again. Open uses it; Discover leaves it empty.
	Earlier []tables.Step

	arn       string
	workspace *workspace.Cluster // of Databricks
	logs      []Application      // applications with event logs
	notes     []string
}

// Cluster is an opened cluster.
type Cluster struct {
	Summary      tables.ClusterSummary // without totals and outcome
	Steps        []tables.Step
	Costs        []tables.Cost     // without usage and prices
	Instances    []tables.Instance // those of an earlier run, too; nil if the source has none
	Usage        map[string]Usage  // of applications that YARN has ended, an earlier run's included
	Applications []Application     // newest first
	Outcomes     []Outcome
	// Listing reports that the source may still find applications, so that the cluster has to be
	// opened again.
	Listing bool
	// Lost are applications of an ended cluster's steps that the source does not have. An earlier
	// run may have read them: EMR and users delete histories.
	Lost []StepApplication
	// Notes are worth reporting, although nothing failed.
	Notes []string

	roles        map[string]string // of instance groups and fleets, by id
	ofSpark      map[string]bool   // steps that submit to Spark, by id
	runtimeRoles bool
	mayAppear    bool // Lost may become visible
}

// Outcome is the result of reading an endpoint.
type Outcome struct {
	Endpoint string // an operation of EMR's API, or one of the Endpoint constants
	Err      error  // nil if everything was read
}

// Application is an application attempt. Its history is in Log or, if that is nil, in
// History under App and Attempt.
type Application struct {
	ID    tables.Attempt
	Start time.Time // zero if unknown
	// Fingerprint changes when there is more to read.
	Fingerprint string

	Log     *eventlog.Log
	History *history.Client
	App     history.Application
	Attempt history.Attempt

	// Lesser says that the source knows less of the application than its log: rows of a log stay.
	Lesser bool

	// Name, User and SparkVersion are what the beginning of a log says; App and Attempt have
	// those of a history server.
	Name, User, SparkVersion string

	sparkContext string // Databricks' Spark context id

	// Err is why a log could not be attributed to an application; ID is then empty.
	Err error
}

// Through says in words where the cluster's applications were found.
func (c *Cluster) Through() string {
	for _, outcome := range c.Outcomes {
		switch outcome.Endpoint {
		case EndpointEventLogs:
			return "its event logs in S3"
		case OpOnClusterUIURL:
			return "its own history server"
		case EndpointApplications:
			return "its persistent UI, which shows an application some minutes after its end"
		}
	}
	return ""
}

// EndOf returns the state of the step that ran an application and no other, "" if there is no
// such step, or it has not ended; and why it failed, "" if it did not or no log says.
func (c *Cluster) EndOf(application string) (state, cause string) {
	for _, step := range c.Steps {
		if len(step.ApplicationIDs) == 1 && step.ApplicationIDs[0] == application && step.EndTime > 0 {
			return step.State, aws.ToString(step.Cause)
		}
	}
	return "", ""
}

// StepOf returns the step that started an application, "" if unknown.
func (c *Cluster) StepOf(application string) string {
	for _, step := range c.Steps {
		for _, id := range step.ApplicationIDs {
			if id == application {
				return step.StepID
			}
		}
	}
	return ""
}

// Failed returns the error of an endpoint, nil if it was read or not asked.
func (c *Cluster) Failed(endpoint string) error {
	for _, outcome := range c.Outcomes {
		if outcome.Endpoint == endpoint && outcome.Err != nil {
			return outcome.Err
		}
	}
	return nil
}

// Unlisted returns why applications of the cluster may be unknown, nil if all were listed.
func (c *Cluster) Unlisted() error {
	return cmp.Or(c.Failed(EndpointApplications), c.Failed(EndpointEventLogs))
}

// report adds an outcome.
func (c *Cluster) report(endpoint string, err error) {
	c.Outcomes = append(c.Outcomes, Outcome{Endpoint: endpoint, Err: err})
}

// Obstacle is an unmet precondition for reading a cluster's history.
type Obstacle struct {
	Reason, Remedy string
	Passing        bool // it may disappear by itself
}

// Error returns the reason and the remedy.
func (o *Obstacle) Error() string { return o.Reason + "; " + o.Remedy }

// ClusterARN is the ARN of an EMR cluster, in any partition.
type ClusterARN struct {
	Account, Region, ID string
}

// ParseClusterARN parses the ARN of an EMR cluster.
func ParseClusterARN(s string) (ClusterARN, error) {
	parsed, err := arn.Parse(s)
	if err != nil {
		return ClusterARN{}, fmt.Errorf("parse the cluster ARN %q: %w", s, err)
	}
	id, ofCluster := strings.CutPrefix(parsed.Resource, "cluster/")
	if parsed.Service != "elasticmapreduce" || !ofCluster || !platform.IsClusterID(id) || parsed.Region == "" || parsed.AccountID == "" {
		return ClusterARN{}, fmt.Errorf("the ARN %q is not that of an EMR cluster", s)
	}
	return ClusterARN{Account: parsed.AccountID, Region: parsed.Region, ID: id}, nil
}

// clusterKey returns the key of a cluster. EMR's API has the account only in the ARN.
func clusterKey(clusterARN, id, name, region string) tables.Cluster {
	key := tables.Cluster{Region: region, ClusterID: id, ClusterName: shown(name)}
	if parsed, err := ParseClusterARN(clusterARN); err == nil {
		key.Account, key.Region = parsed.Account, parsed.Region
	}
	return key
}

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
