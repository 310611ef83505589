package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/emr-observatory/emr-observatory/phases/s3files"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/profiler/workspace"
)

// DatabricksOptions select a workspace's clusters.
type DatabricksOptions struct {
	Workspace     *workspace.Client
	AWS           aws.Config // for logs that are delivered to S3
	NameFilter    string     // part of the name
	CreatedAfter  time.Time
	CreatedBefore time.Time

	// Listed is called with the number of clusters found so far, after each page but the last. It
	// may be nil.
	Listed func(clusters int)

	// UI leads to the Spark UIs of clusters, for what they do not deliver; nil asks none.
	UI *DatabricksUI
}

// DatabricksUI is how the Spark UIs of a workspace's clusters are asked. Databricks documents no way in
// for programs: a browser's cookie is one.
type DatabricksUI struct {
	URL     string // of the data plane, without a path
	Cookie  *history.Cookie
	History history.Options
}

// Databricks is the source for a workspace's clusters, whose history is in the event logs that they
// deliver. A log has all of Spark's events, and outlives the cluster. Their UIs are asked only for what
// was not delivered: they know the last driver of a cluster, and what its retention left.
type Databricks struct {
	ctx context.Context
	o   DatabricksOptions
	now func() time.Time
}

// NewDatabricks returns the source. It sends no request. The context ends requests for files.
func NewDatabricks(ctx context.Context, o DatabricksOptions) *Databricks {
	return &Databricks{ctx: ctx, o: o, now: time.Now}
}

// Estimate is 0: the API's limits are those of its answers.
func (*Databricks) Estimate(int) time.Duration { return 0 }

// Discover lists the clusters that the options select.
func (d *Databricks) Discover(ctx context.Context) ([]Listed, error) {
	all, err := d.o.Workspace.Clusters(ctx, d.o.Listed)
	if err != nil {
		return nil, err // names the operation
	}
	var found []Listed
	for _, c := range all {
		listed := d.listed(c)
		after, before := d.o.CreatedAfter, d.o.CreatedBefore
		if strings.Contains(c.Name, d.o.NameFilter) && !listed.Created.Before(after) && (before.IsZero() || listed.Created.Before(before)) {
			found = append(found, listed)
		}
	}
	slices.SortStableFunc(found, newestCluster)
	return found, nil
}

func (d *Databricks) listed(c workspace.Cluster) Listed {
	l := Listed{ID: tables.Cluster{ClusterID: c.ID, ClusterName: shown(c.Name)}, Created: c.Started.Time(), workspace: &c}
	if c.Ended() {
		l.Ended = c.Terminated.Time()
		// Logs are delivered every five minutes (Databricks, "Compute log delivery"), as EMR's are.
		l.Settled = !l.Ended.IsZero() && d.now().After(l.Ended.Add(settleTime))
	}
	l.Fingerprint = fmt.Sprintf("%s %d %d", c.State, c.Terminated, c.Context)
	if d.o.UI != nil && c.Delivery.S3 == nil && c.Delivery.Volumes == nil {
		l.Fingerprint += " ui" // what a run without a cookie could not read may be there
	}
	return l
}

// Open finds the logs that a cluster has delivered. A cluster's drivers may have been many: the logs
// have all of them, the API knows the last.
func (d *Databricks) Open(ctx context.Context, listed Listed) (*Cluster, error) {
	c := *listed.workspace
	cluster := &Cluster{Summary: tables.ClusterSummary{
		Cluster: listed.ID, Status: c.State, CreatedTime: millis(&listed.Created), EndTime: millis(&listed.Ended),
	}}
	if c.Runtime != "" {
		cluster.Summary.ReleaseLabel = &c.Runtime
	}
	if c.Context != 0 {
		cluster.Summary.SparkContextID = aws.String(strconv.FormatInt(c.Context, 10))
	}
	if c.Reason.Code != "" {
		cluster.Summary.StateChangeReason = aws.String(shown(c.Reason.Code))
	}
	files, destination, err := d.delivered(c)
	if err == nil {
		err = d.applications(ctx, cluster, files, destination)
	}
	if err == nil {
		err = undelivered(c)
	}
	if obstacle, is := errors.AsType[*Obstacle](err); is && d.o.UI != nil && c.Context != 0 {
		err = d.throughUI(ctx, cluster, c, obstacle)
	}
	cluster.report(EndpointEventLogs, err)
	return cluster, ctx.Err()
}

// throughUI adds the applications that a cluster's UI lists and that it did not deliver. It returns what is
// unknown still: at best what earlier drivers ran, since a UI knows the last one.
func (d *Databricks) throughUI(ctx context.Context, cluster *Cluster, c workspace.Cluster, undelivered *Obstacle) error {
	base := fmt.Sprintf("%s/sparkui/%s/driver-%d", d.o.UI.URL, url.PathEscape(c.ID), c.Context)
	client, err := history.OpenWithCookie(base, d.o.UI.Cookie, d.o.UI.History)
	if err != nil {
		return err
	}
	found, err := serverApplications(ctx, client, cluster.Summary.Cluster)
	switch {
	case errors.Is(err, history.ErrNotFound) && c.Ended():
		return undelivered // Databricks keeps UIs for 30 days
	case err != nil:
		// No Obstacle: the next run may have another cookie.
		return fmt.Errorf("%s; its Spark UI could not be read: %w", undelivered.Error(), err)
	case len(found) == 0:
		return undelivered
	}
	for _, a := range found {
		if !slices.ContainsFunc(cluster.Applications, func(b Application) bool { return b.ID.ApplicationID == a.ID.ApplicationID }) {
			a.Lesser = true
			cluster.Applications = append(cluster.Applications, a)
		}
	}
	slices.SortStableFunc(cluster.Applications, newestFirst)
	return &Obstacle{
		Reason: undelivered.Reason + ", so that its Spark UI was read, which knows its last driver only", Remedy: undelivered.Remedy,
		Passing: undelivered.Passing,
	}
}

// applications finds the logs of a cluster below a destination. A cluster without a folder there has
// delivered none yet, if there is such a destination.
func (d *Databricks) applications(ctx context.Context, cluster *Cluster, files fs.FS, destination string) error {
	found, _, err := identifyAll(ctx, files, path.Join(destination, cluster.Summary.ClusterID, deliveredLogs), cluster.Summary.Cluster)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = fs.ReadDir(files, destination)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Obstacle{
			Reason: "its logs go to /" + destination + ", which does not exist, or the token's owner may not see it",
			Remedy: "correct the destination, or grant the owner READ VOLUME and the use of catalog and schema", Passing: true,
		}
	case err != nil:
		return fmt.Errorf("find the delivered event logs: %w", err)
	case len(found) == 0 && cluster.Summary.EndTime > 0 && d.o.UI != nil:
		return &Obstacle{Reason: "it has delivered no event logs", Remedy: "look at its event log for failures of the delivery"}
	case len(found) == 0 && cluster.Summary.EndTime > 0:
		cluster.Notes = append(cluster.Notes, "it has delivered no event logs")
	}
	for i, a := range found {
		if a.ID.ClusterID == cluster.Summary.ClusterID {
			found[i].ID.Cluster = cluster.Summary.Cluster // the name that it has now
		}
	}
	var copies []Application
	cluster.Applications, copies = unique(found)
	if n := len(copies); n > 0 {
		cluster.Notes = append(cluster.Notes, fmt.Sprintf("%d event logs skipped, because a more complete one of the same application exists", n))
	}
	return nil
}

// deliveredLogs is the folder of a cluster's event logs below its destination and its id (Databricks,
// "Compute log delivery").
const deliveredLogs = "eventlog"

// delivered returns where a cluster delivers its logs to, or an Obstacle.
func (d *Databricks) delivered(c workspace.Cluster) (files fs.FS, destination string, err error) {
	const remedy = "set the cluster's log delivery (Advanced options, Logging, or cluster_log_conf) to a volume or to S3; what it ran " +
		"before stays unknown"
	to := c.Delivery
	switch {
	case to.Volumes != nil:
		name := strings.Trim(to.Volumes.Destination, "/")
		if !strings.HasPrefix(name, "Volumes/") || !fs.ValidPath(name) {
			return nil, "", &Obstacle{Reason: fmt.Sprintf("its logs go to %q, which is no volume", to.Volumes.Destination), Remedy: remedy}
		}
		return d.o.Workspace.Files(d.ctx), name, nil
	case to.S3 != nil:
		bucket, key, ok := s3files.Split(strings.TrimRight(to.S3.Destination, "/") + "/" + c.ID) // which takes no bucket alone
		if !ok {
			return nil, "", &Obstacle{Reason: fmt.Sprintf("its logs go to %q, which is no bucket", to.S3.Destination), Remedy: remedy}
		}
		config := d.o.AWS.Copy()
		if config.Region = cmp.Or(to.S3.Region, config.Region, regionOf(to.S3.Endpoint)); config.Region == "" {
			return nil, "", &Obstacle{
				Reason: "its logs go to the bucket " + bucket + ", whose region is unknown", Remedy: "set aws_region", Passing: true,
			}
		}
		return s3files.New(d.ctx, config, bucket), path.Dir(key), nil
	case to.DBFS != nil:
		return nil, "", &Obstacle{
			Reason: "it delivers its logs to DBFS (" + shown(to.DBFS.Destination) + "), whose files every user of the workspace may read and change",
			Remedy: remedy,
		}
	}
	return nil, "", &Obstacle{Reason: "it delivers no logs", Remedy: remedy}
}

// undelivered is why Databricks could not deliver a cluster's logs the last time, nil if it could.
func undelivered(c workspace.Cluster) error {
	if c.Status.LastException == "" {
		return nil
	}
	return &Obstacle{
		Reason: "Databricks could not deliver its last logs: " + shown(c.Status.LastException),
		Remedy: "let the cluster write to the destination; later logs are then delivered", Passing: !c.Ended(),
	}
}

// regionalEndpoint is S3's name in a region (AWS General Reference, "Amazon S3 endpoints").
var regionalEndpoint = regexp.MustCompile(`^https://s3[.-]([a-z]+(?:-[a-z]+)+-[0-9])\.amazonaws\.com(?:\.cn)?/?$`)

// regionOf returns the region of an endpoint of S3, "" if it names none.
func regionOf(endpoint string) string {
	if match := regionalEndpoint.FindStringSubmatch(endpoint); match != nil {
		return match[1]
	}
	return ""
}
