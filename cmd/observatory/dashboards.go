package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/dashboards/check"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/platform"
)

func dashboardsCommand(s *settings) *cobra.Command {
	c := &cobra.Command{Use: "dashboards", Short: "Work with the dashboards"}
	var asJSON, all bool
	var since string
	var wait time.Duration
	var e check.Endpoints
	run := &cobra.Command{
		Use: "check", Args: cobra.NoArgs,
		Short: "Run every panel's and variable's query against the stores; fail on one without data",
		RunE: func(cmd *cobra.Command, _ []string) error {
			running, isLocal, err := local(s)
			if err != nil {
				return err
			}
			if isLocal {
				e.Metrics, e.Logs = orElse(e.Metrics, running.URL(string(platform.WorkloadVictoriaMetrics))), orElse(e.Logs, running.URL(string(platform.WorkloadVictoriaLogs)))
				e.Traces, e.Profiles = orElse(e.Traces, running.URL(string(platform.WorkloadTempo))), orElse(e.Profiles, running.URL(string(platform.WorkloadPyroscope)))
			} else if e.Metrics == "" {
				return errors.Join(localcloud.ErrDown, errors.New("or name the stores with --metrics, --logs, --traces and --profiles"))
			}
			began := running.Started
			if isLocal && since == "" {
				if began, err = lastStep(cmd.Context(), began); err != nil {
					return fmt.Errorf("find the last step (give --since to do without): %w", err)
				}
			}
			from, err := sinceTime(since, began)
			if err != nil {
				return err
			}
			suite, err := dashboards.Suite()
			if err != nil {
				return err
			}
			p := newProgress(cmd.ErrOrStderr())
			report, err := check.Await(cmd.Context(), check.Options{Dashboards: suite, Endpoints: e, Since: from}, wait, func(missing int) {
				p.say("%d queries have no data yet; trying again until %s have passed", missing, wait)
			})
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "  ")
				if err := enc.Encode(report); err != nil {
					return err
				}
			} else {
				report.WriteTable(cmd.OutOrStdout(), all)
			}
			return report.Err()
		},
	}
	run.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	run.Flags().BoolVar(&all, "all", false, "list queries with data too")
	run.Flags().StringVar(&since, "since", "", "data must not be older than this: a duration (15m) or a time (RFC 3339); default when the last step began")
	run.Flags().DurationVar(&wait, "wait", 4*platform.DaemonCollectionInterval, "how long data may still be on its way; 0 looks once")
	run.Flags().StringVar(&e.Metrics, "metrics", "", "URL of VictoriaMetrics")
	run.Flags().StringVar(&e.Logs, "logs", "", "URL of VictoriaLogs")
	run.Flags().StringVar(&e.Traces, "traces", "", "URL of Tempo")
	run.Flags().StringVar(&e.Profiles, "profiles", "", "URL of Pyroscope")
	c.AddCommand(run)
	return c
}

func sinceTime(text string, started time.Time) (time.Time, error) {
	if text == "" && !started.IsZero() {
		return started, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return time.Now().Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("--since %q is neither a duration such as 15m nor a time such as 2026-01-31T12:00:00Z", text)
	}
	return t, nil
}
