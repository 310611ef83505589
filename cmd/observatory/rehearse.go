package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/engine"
	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/internal/rehearsal"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
)

func rehearseCommand(s *settings) *cobra.Command {
	var asJSON bool
	var export string
	c := &cobra.Command{
		Use: "rehearse", Args: cobra.NoArgs,
		Short: "Run a stack's whole life without an account",
		Long: "Runs the program on the real engine: preview, up, up again, destroy. Provider servers stand in for AWS, Kubernetes and\n" +
			"Grafana. They check every input against the SDKs' types and the services' rules, and create nothing. The second up must\n" +
			"change nothing, and protected resources must refuse to be destroyed. All errors are reported. Secrets and ESC environments\n" +
			"are not opened; a network that the stack's file names is assumed to exist.",
		Example: "  observatory rehearse --stack dev\n  observatory rehearse --stack local --json\n" +
			"  observatory rehearse --stack dev --export state.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			run := func(ctx context.Context, program pulumi.RunFunc, o rehearse.Options) (rehearse.Report, error) {
				o.Export = export
				return rehearse.Run(ctx, program, o)
			}
			return runRehearsal(cmd, s, asJSON, run, nil)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	c.Flags().StringVar(&export, "export", "", "`file` to write the stack's state to before the destroy, as pulumi stack export does")
	return c
}

func previewCommand(s *settings) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "preview", Args: cobra.NoArgs,
		Short: "Show what a new stack would consist of, without an account",
		Long: "Prints the engine's preview of a stack that does not exist yet. Provider servers stand in for AWS, so it is what `pulumi\n" +
			"preview` prints in an empty account. To see what would change in an existing stack, run `pulumi preview` with its back end.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var transcript io.Writer
			if !asJSON {
				transcript = cmd.OutOrStdout()
			}
			return runRehearsal(cmd, s, asJSON, rehearse.Preview, transcript)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return c
}

// rehearsalFunc is rehearse.Run or rehearse.Preview.
type rehearsalFunc func(context.Context, pulumi.RunFunc, rehearse.Options) (rehearse.Report, error)

// runRehearsal calls run with the stack of the flags and prints its report.
// transcript receives the engine's own output.
func runRehearsal(cmd *cobra.Command, s *settings, asJSON bool, run rehearsalFunc, transcript io.Writer) error {
	project, err := projectDir()
	if err != nil {
		return err
	}
	program, options, err := rehearsal.Prepare(cmd.Context(), project, s.stack, progress.New(cmd.ErrOrStderr()))
	if err != nil {
		return err
	}
	options.Output = transcript
	report, err := run(cmd.Context(), program, options)
	if asJSON {
		return errors.Join(writeJSON(cmd.OutOrStdout(), report), err)
	}
	if err == nil {
		printSummary(cmd.OutOrStdout(), report)
	}
	return err
}

func printSummary(out io.Writer, r rehearse.Report) {
	var seconds float64
	for _, p := range r.Phases {
		seconds += p.Seconds
	}
	fmt.Fprintf(out, "stack %s: %d resources, providers and components included, no errors (inputs of %d checked, %s)\n",
		r.Stack, r.Resources, r.Checked, time.Duration(seconds*float64(time.Second)).Round(100*time.Millisecond))
	printNames(out, "refused to be destroyed until they were unprotected", r.Protected)
	printNames(out, "remain in the account after the destroy", r.Kept)
}

// printNames prints the names of resources under a heading, and nothing if there
// are none.
func printNames(out io.Writer, heading string, urns []string) {
	if len(urns) == 0 {
		return
	}
	fmt.Fprintf(out, "%d %s:\n", len(urns), heading)
	for _, urn := range urns {
		fmt.Fprintln(out, "  "+engine.ResourceName(urn))
	}
}
