package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/phases/s3files"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// applications finds a cluster's applications: in S3 if Spark writes its event logs
// there, else through the UI of the running cluster, which shows them without delay, else
// through the persistent UI. A waiting cluster is left alone: while its own UI is in use it
// is not idle, and its auto-termination policy does not end it (EMR Management Guide, "Using
// an auto-termination policy for Amazon EMR cluster cleanup"). No such policy ends a cluster
// with termination protection, which clusters with several primary nodes have.
func (e *EMR) applications(ctx context.Context, listed Listed, c types.Cluster, primaries int, cluster *Cluster) {
	if bucket, folder, ok := s3files.Split(eventLogDir(c)); ok {
		err := e.fromEventLogs(ctx, bucket, folder, cluster)
		if err == nil {
			err = e.checkSteps(listed, cluster, keptUI{})
		}
		cluster.report(EndpointEventLogs, err)
		return
	}
	waits := cluster.Summary.Status == string(types.ClusterStateWaiting)
	if cluster.Summary.Status == string(types.ClusterStateRunning) || waits && aws.ToBool(c.TerminationProtected) {
		err := e.throughUI(ctx, cluster, func(ctx context.Context) (string, error) { return e.uis.onCluster(ctx, listed.ID.ClusterID) })
		if err == nil {
			cluster.report(OpOnClusterUIURL, nil)
			return
		}
		cluster.Notes = append(cluster.Notes,
			"could not read its on-cluster history server, so its persistent UI is used, which lags behind: "+err.Error())
	}
	cluster.report(EndpointApplications, e.throughPersistentUI(ctx, listed, c, primaries, cluster))
}

// throughPersistentUI finds a cluster's applications through its persistent UI.
func (e *EMR) throughPersistentUI(ctx context.Context, listed Listed, c types.Cluster, primaries int, cluster *Cluster) error {
	if err := persistentObstacles(c, primaries, e.now()); err != nil {
		if !listed.Ended.IsZero() {
			cluster.Lost = cluster.notListed()
		}
		return err
	}
	login, ui, err := e.uis.login(ctx, uiTarget{listed.arn, expiryOf(listed.Ended), aws.ToString(c.SecurityConfiguration)})
	if err != nil {
		return err
	}
	if err := e.throughUI(ctx, cluster, login); err != nil {
		return err
	}
	if ui.RuntimeRoles {
		cluster.Notes = append(cluster.Notes, "it has runtime roles: unless the profiler's role has "+allEventLogs+
			", EMR lists only the applications of that role")
	}
	if !listed.Ended.IsZero() && e.now().Sub(ui.Created) < readingTime {
		cluster.Listing = true
		cluster.Notes = append(cluster.Notes, "its persistent UI is new and may not list all applications yet: the next run looks again")
	}
	return e.checkSteps(listed, cluster, ui)
}

// checkSteps returns an error if a Spark step of an ended cluster names an application that was
// not found, but may be later. Once it cannot be found any more, it is in cluster.Lost.
// The UI is zero if the event logs are in S3.
func (e *EMR) checkSteps(listed Listed, cluster *Cluster, ui keptUI) error {
	missing := cluster.notListed()
	if listed.Ended.IsZero() || len(missing) == 0 {
		return nil
	}
	age := e.now().Sub(listed.Ended)
	if age < listingTime || cluster.Listing {
		place := "the history server"
		if ui.ID == "" {
			place = "the folder of event logs"
		}
		return fmt.Errorf("%s does not list %s of step %s yet", place, missing[0].ID.ApplicationID, missing[0].Step)
	}
	cluster.Lost, cluster.runtimeRoles = missing, ui.RuntimeRoles
	cluster.mayAppear = ui.RuntimeRoles && age < historyDays*24*time.Hour
	return nil
}

// MayAppear reports whether Lost may become visible, so that they are not lost for good.
func (c *Cluster) MayAppear() bool { return c.mayAppear }

// LostError returns the Obstacle for those of Lost that no earlier run has read.
func (c *Cluster) LostError(lost []StepApplication) error {
	o := &Obstacle{
		Reason: fmt.Sprintf("%d applications of its steps have no history, the first is %s of step %s: it wrote no event log, or EMR could not "+
			"upload it", len(lost), lost[0].ID.ApplicationID, lost[0].Step),
		Remedy:  "look at the step's log, at spark.eventLog.enabled, and at the cluster's way to S3 (in a private subnet, its endpoint policy)",
		Passing: c.mayAppear,
	}
	if c.runtimeRoles {
		o.Reason += ", or it ran with another role than the profiler's"
		o.Remedy = "grant the profiler's role " + allEventLogs + "; otherwise, " + o.Remedy
	}
	return o
}

// allEventLogs is the permission to see the applications of all roles on a cluster with
// runtime roles.
const allEventLogs = "elasticmapreduce:AccessAllEventLogs"

// listingTime is how long after its end a cluster's history server may still be reading
// event logs that it does not list yet. An application that is still not listed after this time
// has no event log.
const listingTime = 24 * time.Hour

// readingTime is how long a new UI may take to list all applications: its history server reads
// all event logs, and nothing says when it has.
const readingTime = time.Hour

// StepApplication is an application that a step names.
type StepApplication struct {
	ID    tables.Attempt // without its attempt
	Step  string
	Start time.Time // of the step
}

// notListed returns the applications of the cluster's Spark steps that its history server does
// not list. Other steps, such as a copy by s3-dist-cp, start applications that Spark's history
// server never lists. A history server responds before it has read its logs, and the REST API
// does not say so (SPARK-17843 concerns the page).
func (c *Cluster) notListed() (missing []StepApplication) {
	known := map[string]bool{}
	for _, a := range c.Applications {
		known[a.ID.ApplicationID] = true
	}
	for _, step := range c.Steps {
		if !c.ofSpark[step.StepID] {
			continue
		}
		for _, id := range step.ApplicationIDs {
			if !known[id] {
				known[id] = true
				missing = append(missing, StepApplication{
					tables.Attempt{Cluster: c.Summary.Cluster, ApplicationID: id}, step.StepID, time.UnixMilli(step.StartTime),
				})
			}
		}
	}
	return missing
}

// throughUI lists the applications of the UI that login opens.
func (e *EMR) throughUI(ctx context.Context, cluster *Cluster, login history.Login) error {
	client, err := history.OpenWithLogin(login, e.o.History)
	if err != nil {
		return err
	}
	cluster.Applications, err = serverApplications(ctx, client, cluster.Summary.Cluster)
	return err
}

// serverApplications lists the application attempts of a history server.
func serverApplications(ctx context.Context, client *history.Client, cluster tables.Cluster) ([]Application, error) {
	listed, err := client.Applications(ctx)
	if err != nil {
		return nil, err
	}
	var found []Application
	for _, app := range listed {
		for _, attempt := range app.Attempts {
			fingerprint := fmt.Sprintf("ended %d", attempt.End)
			if !attempt.Completed {
				fingerprint = fmt.Sprintf("updated %d", attempt.LastUpdated)
			}
			one := Application{
				ID:          tables.Attempt{Cluster: cluster, ApplicationID: app.ID, AttemptID: attempt.ID},
				Fingerprint: fingerprint, History: client, App: app, Attempt: attempt,
			}
			if attempt.Start > 0 { // otherwise not known
				one.Start = time.UnixMilli(int64(attempt.Start))
			}
			found = append(found, one)
		}
	}
	slices.SortStableFunc(found, newestFirst)
	return found, nil
}

// fromEventLogs finds a cluster's applications among the event logs of a folder in S3 that
// clusters may share. The ids of a cluster's applications begin with the start time of its
// resource manager, which is known from the applications of its steps.
func (e *EMR) fromEventLogs(ctx context.Context, bucket, folder string, cluster *Cluster) error {
	var own []string
	for _, step := range cluster.Steps {
		for _, id := range step.ApplicationIDs {
			if cut := strings.LastIndex(id, "_"); cut > 0 {
				own = append(own, id[:cut+1])
			}
		}
	}
	uri := "s3://" + bucket + "/" + folder
	if len(own) == 0 {
		return &Obstacle{
			Reason: "its event logs are in " + uri + ", which other clusters may share, and no step names an application of this one",
			Remedy: "read that folder with --logs, with the cluster's id as --source-name",
		}
	}
	all, err := e.sharedLogs(ctx, bucket, folder)
	if err != nil {
		return fmt.Errorf("find the event logs in %s: %w", uri, err)
	}
	var unknown, broken []error
	all, _ = unique(all)
	for _, a := range all {
		isOwn := func(prefix string) bool { return strings.HasPrefix(a.ID.ApplicationID, prefix) }
		isNamed := func(prefix string) bool { return strings.Contains(a.Log.Name, prefix) }
		isEmpty := errors.Is(a.Err, errNoID) || errors.Is(a.Err, eventlog.ErrEmpty)
		switch {
		case errors.Is(a.Err, fs.ErrNotExist): // finished and renamed, or expired, since it was listed
		case errors.Is(a.Err, eventlog.ErrUnlisted), a.Err != nil && !isEmpty && slices.ContainsFunc(own, isNamed):
			broken = append(broken, a.Err)
		case a.Err != nil:
			unknown = append(unknown, a.Err)
		case slices.ContainsFunc(own, isOwn):
			a.ID.Cluster = cluster.Summary.Cluster
			cluster.Applications = append(cluster.Applications, a)
		}
	}
	if len(unknown) > 0 {
		note := fmt.Sprintf("%d event logs in %s belong to no known application: %v", len(unknown), uri, unknown[0])
		cluster.Notes = append(cluster.Notes, note)
	}
	if len(broken) > 0 {
		return fmt.Errorf("%d of its event logs in %s cannot be read: %w", len(broken), uri, broken[0])
	}
	return nil
}

// folders caches the event logs of shared folders. Discover empties it, so that a run lists
// each folder once, and each call of a tool finds what is new.
type folders struct {
	mu    sync.Mutex
	found map[string]func() ([]Application, error)
}

func (f *folders) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.found = nil
}

// sharedLogs returns the applications whose event logs are in a folder. Its requests to S3
// end with the source's context: other callers wait for the same list, and read the logs
// after the call that listed them.
func (e *EMR) sharedLogs(ctx context.Context, bucket, folder string) ([]Application, error) {
	e.folders.mu.Lock()
	if e.folders.found == nil {
		e.folders.found = map[string]func() ([]Application, error){}
	}
	list, known := e.folders.found[bucket+"/"+folder]
	if !known {
		list = sync.OnceValues(func() ([]Application, error) {
			found, _, err := identifyAll(e.ctx, s3files.New(e.ctx, e.o.AWS, bucket), folder, tables.Cluster{})
			return found, err
		})
		e.folders.found[bucket+"/"+folder] = list
	}
	e.folders.mu.Unlock()
	all, err := list()
	if err == nil {
		return all, nil
	}
	return nil, errors.Join(err, ctx.Err())
}
