package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/submit"
)

func upCommand(s *settings) *cobra.Command {
	var noJob, asJSON bool
	var o local.UpOptions
	c := &cobra.Command{
		Use: "up", Args: cobra.NoArgs,
		Short: "Build the platform on the local cloud and run one Spark job on it",
		Long: "Builds what is missing, starts the local cloud, brings the stack up with the real engine, runs examples/jobs/orders.py\n" +
			"as an EMR step and prints the URLs of what it started. It may be run again at any time, also after it was killed. It first\n" +
			"validates the stack file and checks this machine, as `doctor` does.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := s.platform()
			if err != nil {
				return err
			}
			_, err = p.Config(o.Config)
			if err := errors.Join(err, checkMachine(cmd.Context(), s)); err != nil {
				return err
			}
			if o.Programs, err = programs(); err != nil {
				return err
			}
			o.Job = !noJob
			progressOut := cmd.OutOrStdout()
			if asJSON {
				progressOut = cmd.ErrOrStderr()
			}
			log := progress.New(progressOut)
			stop := sayInterrupted(cmd.Context(), log)
			result, err := p.Up(cmd.Context(), o, log)
			stop()
			switch {
			case err != nil && cmd.Context().Err() != nil:
				err = s.interrupted(err, p.State, result.Job)
			case errors.Is(err, submit.ErrFailed) && result.Job != nil:
				err = s.explainFailure(err, *result.Job)
			}
			if err != nil && asJSON && result.Job != nil { // the platform is up, and the result says why its job failed
				return errors.Join(writeJSON(cmd.OutOrStdout(), result), err)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), result)
			}
			s.printResult(cmd.OutOrStdout(), result)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON: job, objects in S3, URLs")
	c.Flags().StringArrayVarP(&o.Config, "config", "c", nil,
		"override Pulumi.<stack>.yaml for this run: key=value, nested keys joined by dots (clusters.main.core.count=3), entries of lists by\n"+
			"index (operatorCidrs[0]=198.51.100.7/32); may be repeated")
	c.Flags().DurationVar(&o.LogDelay, "log-delay", 0,
		"delay before step logs appear in S3 (EMR: up to 5m); ignored if the local cloud is already running")
	c.Flags().DurationVar(&o.EventLogInterval, "ui-delay", emr.DefaultEventLogInterval,
		"delay before persistent UIs show what a cluster has run (EMR: 2m or more); ignored if the local cloud is already running")
	c.Flags().StringArrayVar(&o.Accepted, "accept", nil,
		"logical name of a resource that may be lost, as the refusal names it; may be repeated")
	c.Flags().BoolVar(&noJob, "no-job", false, "do not run the job")
	return c
}

// programs finds this binary and machined, which `make build` puts beside it.
func programs() (local.Programs, error) {
	machined, err := machinedPath()
	if err != nil {
		return local.Programs{}, err
	}
	exe, err := os.Executable()
	if err != nil {
		return local.Programs{}, fmt.Errorf("find this program: %w", err)
	}
	return local.Programs{Observatory: exe, Machined: machined}, nil
}

// printResult prints the job's outcome, the objects and URLs, and what to try next.
func (s *settings) printResult(out io.Writer, r local.Result) {
	fmt.Fprintln(out)
	if j := r.Job; j != nil {
		duration := ""
		if j.Started != nil && j.Ended != nil {
			duration = " in " + j.Ended.Sub(*j.Started).Round(time.Second).String()
		}
		trace := ""
		if j.TraceID != "" {
			trace = ", trace " + j.TraceID
		}
		fmt.Fprintf(out, "Job %s: step %s %s%s%s\n", j.Name, j.StepID, j.State, duration, trace)
		printPhases(out, j.Phases)
		fmt.Fprintln(out)
	}
	var paths, services []table.Row
	for _, path := range slices.Sorted(maps.Keys(r.Objects)) {
		paths = append(paths, table.Row{path, r.Objects[path]})
	}
	for _, one := range local.Services(r.URLs[string(platform.WorkloadGrafana)] != "") {
		services = append(services, table.Row{one.Title, r.URLs[one.Name]})
	}
	printTable(out, table.Row{"S3 path", "objects"}, paths)
	printTable(out, table.Row{"what", "URL"}, services)
	s.printNext(out, r)
}

func printTable(out io.Writer, header table.Row, rows []table.Row) {
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(header)
	t.AppendRows(rows)
	t.Render()
}
