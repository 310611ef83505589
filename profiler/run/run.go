// Package run reads the history of clusters into the lake: options, discovery, one
// cluster after the other, one application after the other, a summary.
//
// Where clusters are found is package source's matter, what rows an application has is
// package fold's, and how they are kept is package lake's. What is written is safe at any
// moment: a run that was killed goes on where it stopped.
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime/debug"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/phases/s3files"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/workspace"
)

// Exit codes of a run.
const (
	ExitComplete   = 0
	ExitFailed     = 1
	ExitUsage      = 2 // of the options
	ExitIncomplete = 3
)

// Progress shows how far a run has come. Several goroutines call its methods.
type Progress interface {
	// Printf prints a line.
	Printf(format string, args ...any)
	// Clusters sets how many clusters are analyzed.
	Clusters(total int)
	// Applications adds to the number of applications that are read.
	Applications(more int)
	ClusterDone()
	ApplicationDone()
}

// Run reads what the options select. The configuration is used where the source or the
// tables are on AWS. An error means that nothing could be discovered or that the tables
// cannot be written; whatever else went wrong is in the summary.
func Run(ctx context.Context, config aws.Config, o Options, progress Progress) (Summary, error) {
	begun := time.Now()
	var summary Summary
	kept, at, err := open(ctx, config, o, lake.NewFolder)
	if err != nil {
		return summary, err
	}
	err = locked(ctx, kept, at, "observatory-profiler run", func(kept *lake.Lake, at Place) error {
		postponed, ignored := 0, eventlog.Ignored{}
		from, err := openSource(ctx, at.config, o, at, watch{
			listed: listing(progress, o), postponed: func(clusters int) { postponed = clusters },
			ignored: func(files eventlog.Ignored) { ignored = files },
		})
		if err != nil {
			return err
		}
		r := &runner{o: o, source: from, lake: kept, progress: progress, now: begun}
		err = r.run(ctx)
		summary = r.summary
		summary.FilesIgnored, summary.Ignored = ignored.Count, ignored.Files
		if postponed > 0 {
			summary.add(Incomplete{Reason: fmt.Sprintf("the tags of %s are not known yet: a later run looks them up", clusters(postponed))})
		}
		summary.Interrupted = ctx.Err() != nil
		return err
	})
	summary.Seconds = time.Since(begun).Seconds()
	return summary, err
}

// Place is where the tables are.
type Place struct {
	Store  lake.Store
	Prefix string // in the store: "" or with a slash at its end

	config aws.Config
}

// ErrNoTables is the error of a place that no run has written to.
var ErrNoTables = errors.New("no tables")

// Open opens existing tables, without the right to write.
func Open(ctx context.Context, config aws.Config, o Options) (*lake.Lake, Place, error) {
	kept, at, err := open(ctx, config, o, lake.OpenFolder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, at, err
	}
	exists := false
	if err == nil {
		if exists, err = kept.Exists(ctx); err != nil {
			return nil, at, fmt.Errorf("open the tables: %w", err)
		}
	}
	if !exists {
		return nil, at, fmt.Errorf("%w in %s: give what a run wrote to (output or s3_output_path)", ErrNoTables, cmp.Or(o.S3OutputPath, o.Output))
	}
	return kept, at, nil
}

// OpenUnwritten is like Open for tables in S3, which are empty until a run writes them.
func OpenUnwritten(ctx context.Context, config aws.Config, o Options) (*lake.Lake, Place, error) {
	if _, _, inS3 := s3files.Split(o.S3OutputPath); !inS3 {
		return Open(ctx, config, o)
	}
	return open(ctx, config, o, lake.OpenFolder)
}

// open opens the tables; folder opens those that are in a local folder.
func open(ctx context.Context, config aws.Config, o Options, folder func(string) (*lake.Folder, error)) (*lake.Lake, Place, error) {
	if o.Region != "" {
		config.Region = o.Region
	}
	at := Place{config: config}
	if bucket, key, inS3 := s3files.Split(o.S3OutputPath); inS3 {
		at.Store, at.Prefix = lake.NewBucket(config, bucket), key+"/"
	} else {
		var err error
		if at.Store, err = folder(o.Output); err != nil {
			return nil, at, err
		}
	}
	kept, err := lake.Open(ctx, at.Store, at.Prefix)
	if err != nil {
		return nil, at, fmt.Errorf("open the tables: %w", err)
	}
	return kept, at, nil
}

// Locked opens existing tables and lets do write them, as the only writer. owner is what others are
// told who writes. If the tables are compacted and do changes some, they are compacted before others may
// write; the error is an UncompactedError if that is all that went wrong.
func Locked(ctx context.Context, config aws.Config, o Options, owner string, do func(*lake.Lake, Place) error) error {
	kept, at, err := Open(ctx, config, o)
	if err != nil {
		return err
	}
	return locked(ctx, kept, at, owner, func(kept *lake.Lake, at Place) error {
		if err := do(kept, at); err != nil {
			return err
		}
		return keepCompacted(ctx, kept)
	})
}

func locked(ctx context.Context, kept *lake.Lake, at Place, owner string, do func(*lake.Lake, Place) error) error {
	lease, err := kept.Lock(ctx, owner)
	if err != nil {
		return err
	}
	return errors.Join(do(kept, at), lease.Unlock(context.WithoutCancel(ctx)))
}

// Source opens what the options read from, for those who read it without writing tables.
// Only the ids of persistent UIs are then written where the tables are.
func Source(ctx context.Context, config aws.Config, o Options) (source.Source, error) {
	at := Place{config: config}
	if o.Logs == "" && o.HistoryServer == "" && !o.Databricks {
		var err error
		if _, at, err = open(ctx, config, o, lake.NewFolder); err != nil {
			return nil, err
		}
	}
	return openSource(ctx, at.config, o, at, watch{})
}

// watch is called during a discovery.
type watch struct {
	listed    func(clusters int) // found so far
	postponed func(clusters int) // left for a later run
	ignored   func(eventlog.Ignored)
}

// lineInterval is the least time between two lines about a long discovery or compaction.
const lineInterval = 2 * time.Second

// listing returns a function that prints how far a long discovery has come.
func listing(progress Progress, o Options) func(clusters int) {
	said, pace := time.Now(), " at EMR's request quota"
	if o.Databricks {
		pace = ""
	}
	return func(found int) {
		if time.Since(said) >= lineInterval {
			said = time.Now()
			progress.Printf("listing clusters%s: %d so far", pace, found)
		}
	}
}

// bodiesInMemory is how many responses of the largest size fit into memory, as decoded.
const bodiesInMemory = 4

// maxBody returns the largest response that is read, if memory is limited (GOMEMLIMIT), as on the
// control node; else 0, for the default.
func maxBody() int64 {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return 0
	}
	return limit / bodiesInMemory
}

func openSource(ctx context.Context, config aws.Config, o Options, at Place, during watch) (source.Source, error) {
	behind := history.Options{Timeout: o.Timeout, Failures: o.EndpointFailures, MaxBody: maxBody()}
	switch {
	case o.Logs != "":
		logs, err := source.NewLogs(ctx, config, o.Logs, o.SourceName)
		if err != nil {
			return nil, err
		}
		logs.Ignored = during.ignored
		return logs, nil
	case o.HistoryServer != "":
		return source.NewServer(o.HistoryServer, o.SourceName, behind)
	case o.Databricks:
		client, err := workspace.Open(workspace.Options{Host: o.Workspace.Host, Token: o.Workspace.Token, Timeout: o.Timeout})
		if err != nil {
			return nil, err
		}
		options := source.DatabricksOptions{
			Workspace: client, AWS: config, NameFilter: o.NameFilter, CreatedAfter: o.CreatedAfter, CreatedBefore: o.CreatedBefore,
			Listed: during.listed,
		}
		if o.Workspace.DataPlane != "" {
			options.UI = &source.DatabricksUI{
				URL: o.Workspace.DataPlane, Cookie: history.NewCookie(DataPlaneCookie, string(o.Workspace.Cookie)), History: behind,
			}
		}
		return source.NewDatabricks(ctx, options), nil
	case config.Region == "":
		return nil, errors.New("no AWS region: set aws_region, or AWS_REGION, or a profile with a region")
	}
	return source.NewEMR(ctx, source.EMROptions{
		AWS: config, ClusterARN: o.ClusterARN, ClusterID: o.ClusterID, States: o.States, NameFilter: o.NameFilter,
		CreatedAfter: o.CreatedAfter, CreatedBefore: o.CreatedBefore, Tags: o.Tags, Timeout: o.Timeout, UITimeout: o.UITimeout,
		MaxUIs: o.MaxUIs, UIs: at.Store, UIPrefix: at.Prefix, History: behind, Listed: during.listed, Postponed: during.postponed,
	}), nil
}
