package command

import (
	"context"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
)

const toolsHelp = `Serves the history to a language model, over the Model Context Protocol (MCP) on standard input and output, until the
client disconnects. It reads the tables; with --logs, --history-server or --emr-cluster-arn it reads that source directly and
writes no tables. It changes nothing.`

const toolsExamples = `  # for the client's configuration: the tables in S3
  observatory-profiler tools --s3-output-path s3://bucket/lake/history/
  # event logs, without tables
  observatory-profiler tools --logs ./event-logs`

func toolsCommand() *cobra.Command {
	c := newCommand("tools", "Serve the history to a language model over MCP", toolsHelp)
	c.Example = toolsExamples
	flags := run.AddFlags(c.Flags())
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		options, err := flags.Resolve(os.LookupEnv)
		if err != nil {
			return usage(err)
		}
		config, err := awsConfig(cmd.Context())
		if err != nil {
			return err
		}
		rows, err := toolRows(cmd.Context(), config, options)
		if err != nil {
			return err
		}
		return tools.Serve(cmd.Context(), rows, cmd.ErrOrStderr())
	}
	return c
}

// toolRows returns the rows that the options select: a source's or the tables'.
func toolRows(ctx context.Context, config aws.Config, o run.Options) (tools.Rows, error) {
	if o.Logs != "" || o.HistoryServer != "" || o.ClusterARN != "" {
		from, err := run.Source(ctx, config, o)
		if err != nil {
			return nil, err
		}
		return tools.FromSource(from), nil
	}
	kept, _, err := run.Open(ctx, config, o)
	if err != nil {
		return nil, err
	}
	return tools.FromLake(kept), nil
}
