// Package command is the command line of the profiler, for the program
// observatory-profiler and for `observatory profile` alike. What the commands do is in
// packages run, lake and tools.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/profiler/run"
)

// short describes the commands in one line.
const short = "Bring the Spark history of EMR clusters, history servers and event logs home as tables"

// long describes the commands.
const long = `Finds clusters of EMR, running or long gone, reads the history of all their Spark applications, and writes it as typed
Parquet tables to a folder or to S3, where Spark, DuckDB and Athena read them. It also reads a history server by its URL,
and folders of event logs, those that Databricks delivers included.

Credentials, region and endpoints of AWS are those of the AWS SDK: variables such as AWS_PROFILE, files in ~/.aws, or the
role of the machine.`

func commands() []*cobra.Command {
	return []*cobra.Command{runCommand(), serveCommand(), toolsCommand(), expireCommand(), deleteCommand(), tablesCommand()}
}

// AddTo makes c a command that has the profiler's commands.
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
	c.AddCommand(commands()...)
}

// CodeError ends the program with a code other than 1.
type CodeError struct {
	Code int
	Err  error // nil if everything has been said
}

// Error is the message, "" if there is none.
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

// usage marks an error of options or arguments.
func usage(err error) error { return &CodeError{Code: run.ExitUsage, Err: err} }

// noArguments refuses arguments.
func noArguments(c *cobra.Command, args []string) error {
	if err := cobra.NoArgs(c, args); err != nil {
		return usage(err)
	}
	return nil
}

// newCommand returns a command without arguments whose wrong flags are errors of usage.
func newCommand(use, short, long string) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Long: long, Args: noArguments, SilenceUsage: true, SilenceErrors: true}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	return c
}

func awsConfig(ctx context.Context) (aws.Config, error) {
	config, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return config, fmt.Errorf("load the AWS configuration: %w", err)
	}
	return config, nil
}
