package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
)

const serveHelp = `Does what the command run does, at an interval, until it is stopped. It serves the state of the last run as JSON at
` + serve.Path + `, metrics for VictoriaMetrics or Prometheus at /metrics, and /healthz. A run that failed or found no cluster is
retried sooner.`

func serveCommand() *cobra.Command {
	c := newCommand("serve", "Run at an interval, and serve the state of the last run", serveHelp)
	flags := run.AddFlags(c.Flags(), append(run.Table(), run.ServeOptions()...)...)
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
