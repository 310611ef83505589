// Package command is the profiler's command line, of the program observatory-profiler and
// of `observatory profile` alike. Packages run, lake and tools do the work.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/profiler/run"
)

// short describes the commands in one line.
const short = "Turn the Spark history of EMR and Databricks clusters, history servers and event logs into tables"

// long describes the commands.
const long = `Finds EMR clusters, running or terminated, reads the history of all their Spark applications, and writes it as typed
Parquet tables to a folder or to S3, for Spark, DuckDB and Athena to read. It also reads what the clusters of a Databricks
workspace deliver, a history server by its URL, and folders of event logs.

AWS credentials, region and endpoints come from the AWS SDK's default chain: variables such as AWS_PROFILE, files in ~/.aws,
or the machine's role.`

// AddTo adds the profiler's commands to c.
func AddTo(c *cobra.Command) {
	c.Short, c.Long = short, long
	c.Args = cobra.ArbitraryArgs // RunE refuses them
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usage(fmt.Errorf("unknown command %q; %s --help lists the commands", args[0], c.CommandPath()))
		}
		return c.Help()
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	c.AddCommand(runCommand(), judgeCommand(), reportCommand(), serveCommand(), toolsCommand())
	c.AddCommand(expireCommand(), deleteCommand(), compactCommand(), tablesCommand(), ddlCommand())
}

// CodeError ends the program with a code other than 1.
type CodeError struct {
	Code int
	Err  error // nil if everything has been printed
}

// Error returns the message, or "" if there is none.
func (e *CodeError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *CodeError) Unwrap() error { return e.Err }

// Exit prints an error that a command returned, and returns the exit code of the program.
func Exit(stderr io.Writer, program string, err error) int {
	if err == nil {
		return run.ExitComplete
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(stderr, "%s: %s\n", program, text)
	}
	var with *CodeError
	if errors.As(err, &with) {
		return with.Code
	}
	return run.ExitFailed
}

// usage marks an error in options or arguments.
func usage(err error) error { return &CodeError{Code: run.ExitUsage, Err: err} }

// unlessUncompacted returns an error of tables that a command wrote. It is incomplete work, and no failure, if only the
// compacted copies of some days are not written.
func unlessUncompacted(err error) error {
	var days *run.UncompactedError
	if errors.As(err, &days) {
		return &CodeError{Code: run.ExitIncomplete, Err: err}
	}
	return err
}

// noArguments refuses arguments.
func noArguments(c *cobra.Command, args []string) error {
	if err := cobra.NoArgs(c, args); err != nil {
		return usage(err)
	}
	return nil
}

// newCommand returns a command without arguments. Invalid flags are usage errors.
func newCommand(use, short, long string) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Long: long, Args: noArguments, SilenceUsage: true, SilenceErrors: true}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	return c
}

// resolved returns the options of flags and variables, which must pass the checks, and
// the AWS configuration.
func resolved(ctx context.Context, flags run.Flags, checks ...func(run.Options) error) (run.Options, aws.Config, error) {
	options, err := flags.Resolve(os.LookupEnv)
	for _, check := range checks {
		if err == nil && check != nil {
			err = check(options)
		}
	}
	if err != nil {
		return options, aws.Config{}, usage(err)
	}
	config, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return options, config, fmt.Errorf("load the AWS configuration: %w", err)
	}
	return options, config, nil
}
