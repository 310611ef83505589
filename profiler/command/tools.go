package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
)

var toolsHelp = `Serves the history to language models, over the Model Context Protocol (MCP): on standard input and output until
the client disconnects, or with --tools-address over streamable HTTP at ` + platform.ToolsPath + ` until it is stopped. Over HTTP every
request has the bearer token of --token-file; the address is a loopback one unless there is a certificate; a client may send ` +
	strconv.Itoa(tools.RequestsPerSecond) + `
requests a second; each call is a line of JSON on standard error, without texts of jobs.

It reads the tables, which must exist unless they are in S3 and served over HTTP; with --logs,
--history-server, --databricks or --emr-cluster-arn it reads that source directly, and keeps what it has
read in a temporary folder (of TMPDIR) until it ends.

With --tools-url it passes on what another server answers over HTTP, such as a platform's, to a client that starts its server
or cannot be told which CA to trust.

It writes no tables. With --emr-cluster-arn it may create a persistent UI, which EMR cannot delete; its id is stored where the
tables are, for later calls and runs.`

const toolsExamples = `  # for the client's configuration: the tables in S3
  observatory-profiler tools --s3-output-path s3://bucket/lake/history/
  # event logs, without tables
  observatory-profiler tools --logs ./event-logs
  # over HTTP, for clients on this machine
  observatory-profiler tools --logs ./event-logs --tools-address 127.0.0.1:8443 --token-file ./token
  # those of a platform
  observatory-profiler tools --tools-url https://198.51.100.7:8070/mcp --ca-certificate-file ./ca.pem --token-file ./token`

func toolsCommand() *cobra.Command {
	c := newCommand("tools", "Serve the history to a language model over MCP", toolsHelp)
	c.Example = toolsExamples
	flags := run.AddFlags(c.Flags(), append(run.Table(), run.ToolOptions()...))
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		// A relay needs no configuration of AWS.
		if options, err := flags.Resolve(os.LookupEnv); err == nil && options.Tools.URL != "" {
			remote, err := remoteTools(options)
			if err != nil {
				return usage(err)
			}
			return tools.Relay(cmd.Context(), remote, cmd.ErrOrStderr())
		}
		options, config, err := resolved(cmd.Context(), flags)
		if err != nil {
			return err
		}
		over, err := overHTTP(options.Tools, cmd.ErrOrStderr())
		if err != nil {
			return usage(err)
		}
		rows, done, err := toolRows(cmd.Context(), config, options, progress.New(cmd.ErrOrStderr()))
		if err != nil {
			return err
		}
		if address := options.Tools.Address; address != "" {
			err = tools.ServeHTTP(cmd.Context(), rows, address, over, cmd.ErrOrStderr(), func(at net.Addr) {
				progress.New(cmd.ErrOrStderr()).Printf("the tools listen at %s%s", at, platform.ToolsPath)
			})
			return errors.Join(err, done())
		}
		return errors.Join(tools.Serve(cmd.Context(), rows, cmd.ErrOrStderr()), done())
	}
	return c
}

// remoteTools returns the server whose tools are relayed. It is the only source then.
func remoteTools(o run.Options) (tools.Remote, error) {
	if o.Tools.Address != "" || o.Tools.CertificateFile != "" || o.Tools.KeyFile != "" || o.Logs != "" || o.HistoryServer != "" ||
		o.ClusterARN != "" || o.Databricks || o.S3OutputPath != "" {
		return tools.Remote{}, errors.New("tools_url: relays another server's tools: give no tools_address, source or tables beside it")
	}
	remote := tools.Remote{URL: o.Tools.URL, CACertificate: o.Tools.CACertificateFile}
	if o.Tools.TokenFile != "" {
		var err error
		if remote.Token, err = tools.ReadRemoteToken(o.Tools.TokenFile); err != nil {
			return tools.Remote{}, fmt.Errorf("token_file: %w", err)
		}
	}
	return remote, remote.Validate()
}

// overHTTP returns the settings of a server over HTTP, which must be valid if there is an address.
func overHTTP(o run.ToolServer, audit io.Writer) (tools.HTTP, error) {
	if o.CACertificateFile != "" {
		return tools.HTTP{}, errors.New("ca_certificate_file: is for tools_url, which is not given")
	}
	if o.Address == "" {
		if o.TokenFile != "" || o.CertificateFile != "" || o.KeyFile != "" {
			return tools.HTTP{}, errors.New("token_file, certificate_file and key_file are for tools_address, which is not given")
		}
		return tools.HTTP{}, nil
	}
	if o.TokenFile == "" {
		return tools.HTTP{}, errors.New("token_file: tools_address needs one: give a file with a random token")
	}
	token, err := tools.ReadToken(o.TokenFile)
	if err != nil {
		return tools.HTTP{}, fmt.Errorf("token_file: %w", err)
	}
	over := tools.HTTP{Token: token, Certificate: o.CertificateFile, Key: o.KeyFile, Audit: audit}
	if err := over.Validate(o.Address); err != nil {
		return over, fmt.Errorf("tools_address: %w", err)
	}
	return over, nil
}

// toolRows returns the rows that the options select: a source's or the tables'. done removes
// what was cached of a source.
func toolRows(ctx context.Context, config aws.Config, o run.Options, log *progress.Log) (rows tools.Rows, done func() error, err error) {
	if o.Logs == "" && o.HistoryServer == "" && o.ClusterARN == "" && !o.Databricks {
		kept, err := openTables(ctx, config, o, log)
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

// openTables opens the tables. A platform serves over HTTP before its profiler has run: there, the
// log says what is missing.
func openTables(ctx context.Context, config aws.Config, o run.Options, log *progress.Log) (*lake.Lake, error) {
	if o.Tools.Address == "" {
		kept, _, err := run.Open(ctx, config, o)
		return kept, err
	}
	kept, _, err := run.OpenUnwritten(ctx, config, o)
	if err != nil {
		return nil, err
	}
	switch exists, err := kept.Exists(ctx); {
	case err != nil:
		log.Printf("the tables in %s cannot be read: %v", o.S3OutputPath, err)
	case !exists:
		log.Printf("no tables are in %s yet", o.S3OutputPath)
	}
	return kept, nil
}
