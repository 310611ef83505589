package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/dashboards/check"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/platform"
)

func dashboardsCommand(s *settings) *cobra.Command {
	c := &cobra.Command{Use: "dashboards", Short: "Work with the dashboards"}
	c.AddCommand(dashboardsCheckCommand(s))
	return c
}

func dashboardsCheckCommand(s *settings) *cobra.Command {
	var asJSON, all bool
	var f checkFlags
	c := &cobra.Command{
		Use: "check", Args: cobra.NoArgs,
		Short: "Run every panel's and variable's query against the stores; fail on one without data",
		Long: "Runs every panel's and variable's query against the stores, as Grafana would, on the data since the last step began. It\n" +
			"tests the dashboards and what the platform collects: it fails on a query without data, also if the job did not do what the\n" +
			"panel shows, such as writing to S3. Panels of faults may be empty. It waits for data that is missing (--wait).",
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := f.run(cmd.Context(), s, progress.New(cmd.ErrOrStderr()))
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), report)
			} else {
				report.WriteTable(cmd.OutOrStdout(), all)
			}
			return errors.Join(err, report.Err())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	c.Flags().BoolVar(&all, "all", false, "list queries with data too")
	c.Flags().StringVar(&f.since, "since", "",
		"data must not be older than this: a duration (15m) or a time (RFC 3339); default the start of the last step")
	c.Flags().StringVar(&f.cluster, "cluster", "", "select the cluster of this name, as Grafana's drop-down does; default all")
	c.Flags().DurationVar(&f.wait, "wait", 4*platform.DaemonCollectionInterval, "how long to wait for data that is missing; 0 queries once")
	c.Flags().StringVar(&f.stores.Metrics, "metrics", "", "`URL` of VictoriaMetrics")
	c.Flags().StringVar(&f.stores.Logs, "logs", "", "`URL` of VictoriaLogs")
	c.Flags().StringVar(&f.stores.Traces, "traces", "", "`URL` of Tempo")
	c.Flags().StringVar(&f.stores.Profiles, "profiles", "", "`URL` of Pyroscope")
	return c
}

// checkFlags are the flags of `dashboards check` that select what to query.
type checkFlags struct {
	stores  check.Endpoints // an empty one means the local cloud's
	since   string
	cluster string // "" = all
	wait    time.Duration
}

// run queries the stores that the flags name, or those of the local cloud.
func (f checkFlags) run(ctx context.Context, s *settings, log *progress.Log) (check.Report, error) {
	var none check.Report
	state, err := s.stateDir()
	if err != nil {
		return none, err
	}
	running, isLocal, err := local.Connect(state)
	if err != nil {
		return none, err
	}
	switch {
	case isLocal:
		f.stores = localStores(f.stores, running)
	case f.stores.Metrics == "":
		return none, errors.Join(localcloud.ErrDown, errors.New("or name the stores with --metrics, --logs, --traces and --profiles"))
	}
	start := running.Started
	if isLocal && f.since == "" {
		last, err := local.LastStepStart(ctx)
		if err != nil {
			return none, fmt.Errorf("find the last step (give --since to do without): %w", err)
		}
		if !last.IsZero() {
			start = last // data of earlier runs must not count
		}
	}
	from, err := sinceTime(f.since, start)
	if err != nil {
		return none, err
	}
	suite, err := dashboards.Suite()
	if err != nil {
		return none, err
	}
	selected := map[string][]string{}
	if f.cluster != "" {
		selected[string(scope.ClusterName)] = []string{f.cluster}
	}
	options := check.Options{Dashboards: suite, Endpoints: f.stores, Since: from, Variables: selected}
	return check.Await(ctx, options, f.wait, func(missing int) {
		log.Printf("%d queries have no data yet; trying again until %s have passed", missing, f.wait)
	})
}

// localStores fills in the local cloud's stores where no flag names one.
func localStores(e check.Endpoints, running localcloud.Running) check.Endpoints {
	return check.Endpoints{
		Metrics:  cmp.Or(e.Metrics, running.URL(string(platform.WorkloadVictoriaMetrics))),
		Logs:     cmp.Or(e.Logs, running.URL(string(platform.WorkloadVictoriaLogs))),
		Traces:   cmp.Or(e.Traces, running.URL(string(platform.WorkloadTempo))),
		Profiles: cmp.Or(e.Profiles, running.URL(string(platform.WorkloadPyroscope))),
	}
}

// sinceTime parses --since; without one it returns the given time.
func sinceTime(text string, fallback time.Time) (time.Time, error) {
	if text == "" && !fallback.IsZero() {
		return fallback, nil
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
