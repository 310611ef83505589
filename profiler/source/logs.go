package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"golang.org/x/sync/errgroup"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/phases/s3files"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Logs is a folder of event logs, local or in S3. Logs that Databricks delivers name their
// cluster; all others belong to one cluster with the folder's name.
type Logs struct {
	// Ignored is told which files Discover took for no event log; it may be nil.
	Ignored func(eventlog.Ignored)

	files fs.FS
	dir   string // within files
	uri   string
	name  string
}

// ErrNoLogs is of a folder without an event log.
var ErrNoLogs = errors.New("must hold an event log (a file of Spark's events, plain, compressed or in a zip)")

// NewLogs returns the source of a folder, a log or a zip, local or by its s3:// URI. name becomes
// the cluster_id of its rows; if it is "", the folder's name does. The context ends requests to S3.
func NewLogs(ctx context.Context, config aws.Config, uri, name string) (*Logs, error) {
	if bucket, key, ok := s3files.Split(uri); ok {
		return &Logs{files: s3files.New(ctx, config, bucket), dir: key, uri: uri, name: cmp.Or(name, filepath.Base(key))}, nil
	}
	folder, err := filepath.Abs(uri)
	only := "."
	if err == nil {
		var info fs.FileInfo
		switch info, err = os.Stat(folder); {
		case err != nil || info.IsDir():
		case info.Mode().IsRegular():
			folder, only = filepath.Split(folder)
		default:
			err = errors.New("neither a folder nor a file")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the folder of event logs %s: %w", uri, err)
	}
	return &Logs{files: os.DirFS(folder), dir: only, uri: uri, name: cmp.Or(name, filepath.Base(folder))}, nil
}

// Estimate is 0: neither local folders nor S3 have a quota that matters here.
func (*Logs) Estimate(int) time.Duration { return 0 }

// Discover reads the beginning of each log to identify its application and cluster.
func (l *Logs) Discover(ctx context.Context) ([]Listed, error) {
	applications, ignored, err := identifyAll(ctx, l.files, l.dir, tables.Cluster{ClusterID: l.name, ClusterName: l.name})
	if err != nil {
		return nil, fmt.Errorf("find the event logs of %s: %w", l.uri, err)
	}
	if l.Ignored != nil {
		l.Ignored(ignored)
	}
	if len(applications) == 0 {
		return nil, fmt.Errorf("logs: %q %w, and has %s; give the folder that spark.eventLog.dir names, or one with the zips that a history"+
			" server gives", l.uri, ErrNoLogs, filesOf(ignored))
	}
	applications, copies := unique(applications)
	var clusters []Listed
	for _, a := range applications {
		i := slices.IndexFunc(clusters, func(c Listed) bool { return c.ID == a.ID.Cluster })
		if i < 0 {
			i = len(clusters)
			clusters = append(clusters, Listed{ID: a.ID.Cluster})
		}
		clusters[i].logs = append(clusters[i].logs, a)
	}
	if n := len(copies); n > 0 {
		clusters[0].notes = append(clusters[0].notes, fmt.Sprintf(
			"%d event logs skipped, because a more complete log of the same application attempt exists; the first: %s", n, copies[0].Log.Name))
	}
	return clusters, nil
}

// filesOf says what a folder without event logs has.
func filesOf(ignored eventlog.Ignored) string {
	switch ignored.Count {
	case 0:
		return "no files"
	case 1:
		return fmt.Sprintf("1 other file (%s: %s)", ignored.Files[0].Name, ignored.Files[0].Reason)
	}
	return fmt.Sprintf("%d other files (the first, %s: %s)", ignored.Count, ignored.Files[0].Name, ignored.Files[0].Reason)
}

// unique keeps one log per attempt: a closed one if possible, else the largest. The others
// are returned as copies, except logs of another application with the same id: those are
// kept, with an error.
func unique(all []Application) (kept, copies []Application) {
	index := map[tables.Attempt]int{}
	for _, a := range all {
		i, known := index[a.ID]
		switch {
		case a.Err != nil:
			kept = append(kept, a)
		case !known:
			index[a.ID] = len(kept)
			kept = append(kept, a)
		case !a.Start.Equal(kept[i].Start):
			a.Err = fmt.Errorf("log %s: another application with the id %s is in %s: move one to a folder of its own, and read that with "+
				"another --source-name",
				a.Log.Name, a.ID.ApplicationID, kept[i].Log.Name)
			kept = append(kept, a)
		case betterLog(a.Log, kept[i].Log):
			copies = append(copies, kept[i])
			kept[i] = a
		default:
			copies = append(copies, a)
		}
	}
	return kept, copies
}

// betterLog reports whether a is more complete than b.
func betterLog(a, b *eventlog.Log) bool {
	if a.InProgress != b.InProgress {
		return !a.InProgress
	}
	return a.Size > b.Size
}

// Open returns the cluster's logs.
func (*Logs) Open(_ context.Context, listed Listed) (*Cluster, error) {
	cluster := &Cluster{Summary: tables.ClusterSummary{Cluster: listed.ID}, Applications: listed.logs, Notes: listed.notes}
	cluster.report(EndpointEventLogs, nil)
	for _, a := range listed.logs {
		if a.sparkContext != "" && cluster.Summary.SparkContextID == nil { // the newest, as Databricks' API says
			cluster.Summary.SparkContextID = &a.sparkContext
		}
	}
	return cluster, nil
}

// concurrentLogs is how many logs are identified at a time.
const concurrentLogs = 16

// identifyAll finds the logs of a folder and identifies the application of each, newest
// first.
func identifyAll(ctx context.Context, files fs.FS, dir string, cluster tables.Cluster) ([]Application, eventlog.Ignored, error) {
	logs, ignored, err := eventlog.Search(files, dir)
	if err != nil {
		return nil, ignored, err
	}
	found := make([]Application, len(logs))
	var group errgroup.Group
	group.SetLimit(concurrentLogs)
	for i, log := range logs {
		group.Go(func() error {
			found[i] = Identify(ctx, log, cluster)
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, ignored, err
	}
	slices.SortStableFunc(found, newestFirst)
	return found, ignored, nil
}

func newestFirst(a, b Application) int {
	return cmp.Or(b.Start.Compare(a.Start), cmp.Compare(b.ID.ApplicationID, a.ID.ApplicationID), cmp.Compare(b.ID.AttemptID, a.ID.AttemptID))
}

var (
	errEnough = errors.New("the application is identified")
	errNoID   = errors.New("no event names the application")
)

// Identify reads a log up to the start of its application. It ignores file names, because
// users rename files.
func Identify(ctx context.Context, log *eventlog.Log, cluster tables.Cluster) Application {
	a := Application{
		ID: tables.Attempt{Cluster: cluster}, Log: log,
		Fingerprint: fmt.Sprintf("%s %d %d", log.Name, log.Size, log.Modified.UnixMilli()),
	}
	a.sparkContext = log.Context
	lost := ""
	_, err := log.Read(ctx, func(event eventlog.Event) error {
		if e, is := event.(*eventlog.Lost); is {
			lost = cmp.Or(lost, e.Reason)
		}
		return a.identify(event)
	})
	switch {
	case a.ID.ApplicationID != "":
	case err != nil:
		a.Err = fmt.Errorf("identify the application of a log: %w", err)
	case lost != "":
		a.Err = fmt.Errorf("identify the application of log %s: %w: %s", log.Name, errNoID, lost)
	default:
		a.Err = fmt.Errorf("identify the application of log %s: %w", log.Name, errNoID)
	}
	return a
}

// Spark properties that identify a Databricks cluster, and an application whose start is
// not in the log.
const (
	databricksCluster = "spark.databricks.clusterUsageTags.clusterId"
	databricksName    = "spark.databricks.clusterUsageTags.clusterName"
	databricksContext = "spark.databricks.sparkContextId"
	sparkAppID        = "spark.app.id"
	sparkStartTime    = "spark.app.startTime"
)

// identify copies what an event says about the application and its cluster. It returns
// errEnough at the start of the application.
func (a *Application) identify(event eventlog.Event) error {
	switch e := event.(type) {
	case *eventlog.LogStart:
		a.SparkVersion = strings.Clone(e.SparkVersion)
	case *eventlog.EnvironmentUpdate:
		if id := e.Spark[databricksCluster]; id != "" {
			a.ID.ClusterID, a.ID.ClusterName = strings.Clone(id), shown(strings.Clone(e.Spark[databricksName]))
		}
		a.sparkContext = cmp.Or(strings.Clone(e.Spark[databricksContext]), a.sparkContext)
		if a.ID.ApplicationID == "" {
			a.ID.ApplicationID = strings.Clone(e.Spark[sparkAppID])
			if millis, err := strconv.ParseInt(e.Spark[sparkStartTime], 10, 64); err == nil {
				a.Start = time.UnixMilli(millis)
			}
		}
	case *eventlog.ApplicationStart:
		a.ID.ApplicationID, a.ID.AttemptID = strings.Clone(e.ID), strings.Clone(e.Attempt)
		a.Start, a.Name, a.User = time.UnixMilli(e.Time), shown(strings.Clone(e.Name)), shown(strings.Clone(e.User))
		return errEnough
	}
	return nil
}

// ErrNotSent means that an event log could not be downloaded, so another run may succeed. A
// log that was downloaded but is damaged will not improve.
var ErrNotSent = errors.New("download failed")

// errNoLog is the cause if a download does not have what was asked for.
var errNoLog = errors.New("the download lacks the application's event log")

// Archived downloads the application's event log from its history server and calls read with
// it. The download is deleted when read returns. The error is read's own, or says why there
// is no log.
func (a Application) Archived(ctx context.Context, read func(*eventlog.Log) error) error {
	archive, err := a.History.UI(a.ID.ApplicationID, a.ID.AttemptID).Logs(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	log, err := a.in(ctx, archive)
	if err == nil {
		err = read(log)
	}
	return errors.Join(err, archive.Close())
}

// in returns the application's event log in a download.
func (a Application) in(ctx context.Context, archive *history.Archive) (own *eventlog.Log, err error) {
	logs, err := eventlog.Find(archive, ".")
	if err != nil {
		return nil, fmt.Errorf("find the event log in the download: %w", err)
	}
	for _, log := range logs {
		found := Identify(ctx, log, a.ID.Cluster)
		if found.Err == nil && found.ID == a.ID {
			own = log
		}
	}
	if own == nil {
		return nil, errNoLog
	}
	return own, nil
}
