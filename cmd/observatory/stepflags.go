package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/stacks/outputs"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/submit"
)

// stepFlags are what the commands that deal with a step share.
type stepFlags struct {
	settings *settings
	o        *submit.Options
	remote   remoteStatus
	outputs  string // file
	asJSON   bool
}

// addTo adds the flags that name a cluster.
func (f *stepFlags) addTo(c *cobra.Command) {
	c.Flags().StringVar(&f.o.Cluster, "cluster", "",
		"EMR cluster: its key in the configuration, its name or its id (j-…); may be left out if the stack has one")
	c.Flags().StringVar(&f.outputs, "outputs", "",
		"`file` with the stack output "+outputs.Observatory+" (JSON), - for stdin: has the names of clusters, and the bucket")
}

// addWaitTo adds the flags that say how to wait for a step. Their help begins with when.
func (f *stepFlags) addWaitTo(c *cobra.Command, when string) {
	c.Flags().DurationVar(&f.o.LogWait, "log-wait", submit.LogWait, when+"how long to wait for a failed step's log in S3")
	c.Flags().DurationVar(&f.o.PhasesWait, "phases-wait", submit.PhasesWait,
		when+"how long to wait for the applications' phases; 0 does not ask")
	c.Flags().BoolVar(&f.o.ShowLogs, "logs", false, when+"print the last lines of a failed step's logs")
	f.remote.addFlags(c, "status-url")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print the result as JSON")
}

// resolve reads what the flags of the status page name.
func (f *stepFlags) resolve(stdin io.Reader) (err error) {
	if f.o.Status.URL = f.remote.url; f.remote.url != "" {
		f.o.Status.Access, err = f.remote.access(stdin)
	}
	return err
}

// report prints a result, and adds to an error the commands that go on from there.
func (f *stepFlags) report(cmd *cobra.Command, result submit.Result, err error) error {
	if result.StepID == "" {
		return err
	}
	if f.asJSON {
		if jsonErr := json.NewEncoder(cmd.OutOrStdout()).Encode(result); jsonErr != nil {
			return errors.Join(err, jsonErr)
		}
	} else {
		fmt.Fprintln(cmd.OutOrStdout(), result)
		printPhases(cmd.OutOrStdout(), result.Phases)
	}
	switch {
	case errors.Is(err, submit.ErrDetached):
		return fmt.Errorf("%w\n  follow it: %s\n  cancel it: %s", err,
			f.settings.stepCommand("follow", result, f.remote.words()...), f.settings.stepCommand("cancel", result))
	case errors.Is(err, submit.ErrFailed) && !f.o.ShowLogs:
		return f.settings.explainFailure(err, result)
	}
	return err
}

// stepCommand is the command of this program that does something with a result's step.
func (s *settings) stepCommand(name string, of submit.Result, flags ...string) string {
	return s.command(append(append([]string{"step", name, "--cluster", of.Cluster}, flags...), of.StepID)...)
}

// explainFailure adds to the error of a failed step how to see the last lines of its logs.
func (s *settings) explainFailure(err error, result submit.Result) error {
	for _, log := range result.Failure.Logs {
		if len(log.Tail) > 0 {
			return fmt.Errorf("%w\nthe last lines of its logs: %s", err, s.stepCommand("follow", result, "--logs"))
		}
	}
	return err
}

// printPhases prints where the time of applications went, and where to see it in full.
func printPhases(out io.Writer, phases []status.ApplicationPhases) {
	for _, of := range phases {
		fmt.Fprintf(out, "%s: %s\n", of.ApplicationID, of)
		if of.Page != "" {
			fmt.Fprintf(out, "  page: %s\n", of.Page)
		}
		if of.Timeline != of.Page {
			fmt.Fprintf(out, "  timeline: %s\n", of.Timeline)
		}
	}
}
