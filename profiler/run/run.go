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

// Progress is told how far a run is. Its methods are called by several goroutines.
type Progress interface {
	// Printf prints a line.
	Printf(format string, args ...any)
	// Clusters tells how many clusters are analyzed.
	Clusters(total int)
	// Applications tells that so many more applications are read.
	Applications(more int)
	ClusterDone()
	ApplicationDone()
}

// Run reads what the options select. The configuration is used where the source or the
// tables are on AWS. An error means that nothing could be discovered or that the tables
// cannot be written; whatever else went wrong is in the summary.
func Run(ctx context.Context, config aws.Config, o Options, progress Progress) (Summary, error) {
	begun := time.Now()
	if o.Region != "" {
		config.Region = o.Region
	}
	store, prefix, err := openStore(config, o)
	if err != nil {
		return Summary{}, err
	}
	tables, err := lake.Open(ctx, store, prefix)
	if err != nil {
		return Summary{}, fmt.Errorf("open the tables: %w", err)
	}
	lease, err := tables.Lock(ctx, "observatory-profiler run")
	if err != nil {
		return Summary{}, err
	}
	from, err := openSource(ctx, config, o, store, prefix)
	if err == nil {
		r := &runner{o: o, source: from, lake: tables, progress: progress}
		err = r.run(ctx)
		r.summary.Seconds = time.Since(begun).Seconds()
		r.summary.Interrupted = ctx.Err() != nil
		return r.summary, errors.Join(err, lease.Unlock(context.WithoutCancel(ctx)))
	}
	return Summary{}, errors.Join(err, lease.Unlock(context.WithoutCancel(ctx)))
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

func openSource(ctx context.Context, config aws.Config, o Options, store lake.Store, prefix string) (source.Source, error) {
	behind := history.Options{Timeout: o.Timeout, Failures: o.EndpointFailures}
	switch {
	case o.Logs != "":
		return source.NewLogs(ctx, config, o.Logs, o.SourceName)
	case o.HistoryServer != "":
		return source.NewServer(o.HistoryServer, o.SourceName, behind)
	case config.Region == "":
		return nil, errors.New("no AWS region: set aws_region, or AWS_REGION, or a profile with a region")
	}
	return source.NewEMR(source.EMROptions{
		AWS: config, ClusterARN: o.ClusterARN, States: o.States, NameFilter: o.NameFilter,
		CreatedAfter: o.CreatedAfter, CreatedBefore: o.CreatedBefore, Timeout: o.Timeout, UITimeout: o.UITimeout,
		MaxUIs: o.MaxUIs, UIs: store, UIPrefix: prefix, History: behind,
	}), nil
}
