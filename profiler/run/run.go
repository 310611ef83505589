// Package run reads the history of clusters into the lake: options, discovery, one
// cluster after the other, one application after the other, a summary.
//
// Where clusters are found is package source's matter, what rows an application has is
// package fold's, and how they are kept is package lake's. What is written is safe at any
// moment: a run that was killed goes on where it stopped.
package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/emr-observatory/emr-observatory/phases/s3files"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
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
	err := Locked(ctx, config, o, "observatory-profiler run", func(kept *lake.Lake, at Place) error {
		from, err := openSource(ctx, at.config, o, at)
		if err != nil {
			return err
		}
		r := &runner{o: o, source: from, lake: kept, progress: progress, now: begun}
		err = r.run(ctx)
		summary = r.summary
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

// Open opens the tables, without the right to write.
func Open(ctx context.Context, config aws.Config, o Options) (*lake.Lake, Place, error) {
	if o.Region != "" {
		config.Region = o.Region
	}
	at := Place{config: config}
	var err error
	if at.Store, at.Prefix, err = openStore(config, o); err != nil {
		return nil, at, err
	}
	kept, err := lake.Open(ctx, at.Store, at.Prefix)
	if err != nil {
		return nil, at, fmt.Errorf("open the tables: %w", err)
	}
	return kept, at, nil
}

// Locked opens the tables and lets do write them, as the only writer. owner is what
// others are told who writes.
func Locked(ctx context.Context, config aws.Config, o Options, owner string, do func(*lake.Lake, Place) error) error {
	kept, at, err := Open(ctx, config, o)
	if err != nil {
		return err
	}
	lease, err := kept.Lock(ctx, owner)
	if err != nil {
		return err
	}
	return errors.Join(do(kept, at), lease.Unlock(context.WithoutCancel(ctx)))
}

// openStore returns where the tables are, and their prefix in it.
func openStore(config aws.Config, o Options) (lake.Store, string, error) {
	if o.S3OutputPath == "" {
		folder, err := lake.NewFolder(o.Output)
		return folder, "", err
	}
	bucket, key, _ := s3files.Split(o.S3OutputPath) // the option's rule
	return lake.NewBucket(config, bucket), key + "/", nil
}

// Source opens what the options read from, for those who read it without writing tables.
// Only the ids of persistent UIs are then written where the tables are.
func Source(ctx context.Context, config aws.Config, o Options) (source.Source, error) {
	at := Place{config: config}
	if o.Logs == "" && o.HistoryServer == "" {
		var err error
		if _, at, err = Open(ctx, config, o); err != nil {
			return nil, err
		}
	}
	return openSource(ctx, at.config, o, at)
}

func openSource(ctx context.Context, config aws.Config, o Options, at Place) (source.Source, error) {
	behind := history.Options{Timeout: o.Timeout, Failures: o.EndpointFailures}
	switch {
	case o.Logs != "":
		return source.NewLogs(ctx, config, o.Logs, o.SourceName)
	case o.HistoryServer != "":
		return source.NewServer(o.HistoryServer, o.SourceName, behind)
	case config.Region == "":
		return nil, errors.New("no AWS region: set aws_region, or AWS_REGION, or a profile with a region")
	}
	return source.NewEMR(ctx, source.EMROptions{
		AWS: config, ClusterARN: o.ClusterARN, States: o.States, NameFilter: o.NameFilter,
		CreatedAfter: o.CreatedAfter, CreatedBefore: o.CreatedBefore, Timeout: o.Timeout, UITimeout: o.UITimeout,
		MaxUIs: o.MaxUIs, UIs: at.Store, UIPrefix: at.Prefix, History: behind,
	}), nil
}
