package command

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/profiler/run"
)

var runHelp = fmt.Sprintf(`Discovers clusters, reads the history of their applications, and writes it as tables. An application that the
tables already have is not read again unless it has progressed since. A run may be interrupted or killed: the next one continues.

Each option is a flag, an environment variable with the name in the reference (max_clusters for --max-clusters), or a key of
the YAML file --config. A flag overrides a variable, a variable the file, and the file the default.

The summary goes to stdout, progress to stderr. Exit codes: %d everything has been read; %d something is missing: the summary
names it, and the next run retries what may still become available; %d clusters cannot be listed, or the tables cannot be
read or written; %d invalid options.`,
	run.ExitComplete, run.ExitIncomplete, run.ExitFailed, run.ExitUsage)

const runExamples = `  # event logs in a folder
  observatory-profiler run --logs ./event-logs --output ./history
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
	flags := run.AddFlags(c.Flags(), run.Table()...)
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
