package command

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
)

const toolsHelp = `Serves the history to a language model, over the Model Context Protocol (MCP) on standard input and output, until the
client disconnects. It reads the tables, which must exist; with --logs, --history-server or --emr-cluster-arn it reads that
source directly, and keeps what it has read in a temporary folder (of TMPDIR) until it ends.

It writes no tables. With --emr-cluster-arn it may create a persistent UI, which EMR cannot delete; its id is stored where the
tables are, for later calls and runs.`

const toolsExamples = `  # for the client's configuration: the tables in S3
  observatory-profiler tools --s3-output-path s3://bucket/lake/history/
  # event logs, without tables
  observatory-profiler tools --logs ./event-logs`

func toolsCommand() *cobra.Command {
	c := newCommand("tools", "Serve the history to a language model over MCP", toolsHelp)
	c.Example = toolsExamples
	flags := run.AddFlags(c.Flags(), run.Table())
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		options, config, err := resolved(cmd.Context(), flags)
		if err != nil {
			return err
		}
		rows, done, err := toolRows(cmd.Context(), config, options)
		if err != nil {
			return err
		}
		return errors.Join(tools.Serve(cmd.Context(), rows, cmd.ErrOrStderr()), done())
	}
	return c
}

// toolRows returns the rows that the options select: a source's or the tables'. done removes
// what was cached of a source.
func toolRows(ctx context.Context, config aws.Config, o run.Options) (rows tools.Rows, done func() error, err error) {
	if o.Logs == "" && o.HistoryServer == "" && o.ClusterARN == "" {
		kept, _, err := run.Open(ctx, config, o)
		if err != nil {
			return nil, nil, err
		}
		return tools.FromLake(kept), func() error { return nil }, nil
	}
	from, err := run.Source(ctx, config, o)
	if err != nil {
		return nil, nil, err
	}
	return tools.FromSource(ctx, from)
}
