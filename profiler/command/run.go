package command

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/basicauth"
	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
)

var runHelp = fmt.Sprintf(`Discovers clusters, reads the history of their applications, and writes it as tables. An application that the
tables already have is not read again unless it has progressed since. A run may be interrupted or killed: the next one continues.

Each option is a flag, an environment variable with the name in the reference (max_clusters for --max-clusters), or a key of
the YAML file --config. A flag overrides a variable, a variable the file, and the file the default.

The summary goes to stdout, progress to stderr. Exit codes: %d everything has been read; %d something is missing, or there is
no event log at all: the summary names it, and the next run retries what may still become available; %d clusters cannot be
listed, or the tables cannot be read or written; %d invalid options.`,
	run.ExitComplete, run.ExitIncomplete, run.ExitFailed, run.ExitUsage)

const runExamples = `  # event logs in a folder
  observatory-profiler run --logs ./event-logs --output ./history
  # the zips of "Download" in a history server's list, or of its REST API
  observatory-profiler run --logs ./zips --output ./history
  # an account's clusters created since a date, to S3
  observatory-profiler run --aws-region eu-west-1 --created-after-date 2026-11-16 --max-clusters 0 \
    --environment prod --s3-output-path s3://bucket/lake/history/
  # one cluster, in any partition
  observatory-profiler run --emr-cluster-arn arn:aws-cn:elasticmapreduce:cn-north-1:123456789012:cluster/j-ABC
  # a history server, without AWS
  observatory-profiler run --history-server http://primary:18080 --output ./history`

func runCommand() *cobra.Command {
	c := newCommand("run", "Read the history of clusters into tables", runHelp)
	c.Example = runExamples
	flags := run.AddFlags(c.Flags(), run.Table())
	asJSON := c.Flags().Bool("json", false, "print the summary as JSON")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		options, config, err := resolved(cmd.Context(), flags)
		if err != nil {
			return err
		}
		shown := newDisplay(cmd.ErrOrStderr())
		summary, err := run.Run(cmd.Context(), config, options, shown)
		shown.wait()
		if err != nil {
			return err
		}
		if *asJSON {
			encoder := json.NewEncoder(cmd.OutOrStdout())
			encoder.SetIndent("", "  ")
			err = encoder.Encode(summary)
		} else {
			summary.Print(cmd.OutOrStdout())
		}
		if err != nil {
			return fmt.Errorf("print the summary: %w", err)
		}
		if code := summary.ExitCode(); code != run.ExitComplete {
			return &CodeError{Code: code}
		}
		return nil
	}
	return c
}

const serveHelp = `Does what the command run does, at an interval, until it is stopped. It serves the state of the last run as JSON at
` + serve.Path + `, metrics for VictoriaMetrics or Prometheus at /metrics, and /healthz. A run that failed or found no cluster is
retried sooner. With --password-file, POST ` + serve.WakePath + ` has it read one cluster within seconds, and again until the
applications of the request are in the tables.`

func serveCommand() *cobra.Command {
	c := newCommand("serve", "Run at an interval, and serve the state of the last run", serveHelp)
	flags := run.AddFlags(c.Flags(), append(run.Table(), run.ServeOptions()...))
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		options, config, err := resolved(cmd.Context(), flags)
		if err != nil {
			return err
		}
		shown := lines{progress.New(cmd.ErrOrStderr())}
		server := serve.New(func(ctx context.Context) serve.Report {
			summary, err := run.Run(ctx, config, options, shown)
			report := reportOf(summary, err)
			line := fmt.Sprintf("%s: %d of %d clusters and %d applications read, %d objects written, %d incomplete", report.Result,
				report.ClustersRead, report.ClustersFound, report.Applications, report.Objects, report.IncompleteCount)
			if err != nil {
				line += ": " + report.Error
			}
			shown.Printf("%s", line)
			return report
		}, options.Interval)
		server.ServeApplications(servePages(config, options))
		if options.PasswordFile != "" {
			password, err := basicauth.Read(options.PasswordFile)
			if err != nil {
				return usage(fmt.Errorf("password_file: %w", err))
			}
			server.ServeWakes(password, func(ctx context.Context, wake serve.Wake) (serve.Found, error) {
				return run.Woken(ctx, config, options, wake, shown)
			})
		}
		return server.Listen(cmd.Context(), options.Listen)
	}
	return c
}

// reportOf returns a run's report for the status page.
func reportOf(s run.Summary, err error) serve.Report {
	report := serve.Report{
		Result: serve.Complete, ClustersFound: s.ClustersFound, ClustersCurrent: s.ClustersCurrent, ClustersRead: s.ClustersRead,
		Applications: s.ApplicationsRead, ApplicationsCurrent: s.ApplicationsCurrent, Objects: s.Objects,
		Incomplete: []serve.Missing{},
	}
	for _, i := range s.Incomplete {
		report.Add(serve.Missing{Cluster: i.Cluster, Application: i.Application, Reason: i.Reason})
	}
	switch {
	case err != nil:
		report.Result, report.Error = serve.Failed, err.Error()
	case s.ExitCode() != run.ExitComplete:
		report.Result = serve.Incomplete
	}
	return report
}
