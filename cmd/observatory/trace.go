package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/phases"
	"github.com/emr-observatory/emr-observatory/phases/spans"
	"github.com/emr-observatory/emr-observatory/platform"
)

func traceCommand(s *settings) *cobra.Command {
	c := &cobra.Command{Use: "trace", Short: "Traces and phases of Spark applications"}
	c.AddCommand(traceImportCommand(s))
	return c
}

// traceImport is what an import does.
type traceImport struct {
	endpoint, cluster string
	dryRun, asJSON    bool
}

// imported describes an import; programs read it as JSON.
type imported struct {
	Application string `json:"application"`
	Name        string `json:"name"`
	TraceID     string `json:"traceId"`
	Line        string `json:"line"`
	phases.Result
	Events    int64  `json:"events"`
	Truncated string `json:"truncated,omitempty"` // file and line where the log is cut off
	Unread    string `json:"unread,omitempty"`    // first event, with file and line, that could not be read
	Damaged   string `json:"damaged,omitempty"`   // first text, with file and line, that is no event
	Spans     int    `json:"spans"`
	Dropped   int    `json:"dropped"`            // spans over the budget of a trace
	Endpoint  string `json:"endpoint,omitempty"` // that received the spans
	Link      string `json:"link,omitempty"`     // to the trace, on the local cloud
}

func traceImportCommand(s *settings) *cobra.Command {
	var t traceImport
	c := &cobra.Command{
		Use: "import [flags] EVENTLOG|s3://BUCKET/KEY", Args: cobra.ExactArgs(1),
		Short: "Read a Spark event log: where the application's time went, and its trace",
		Long: "Reads the event log of an application that ran without the platform's plugin, or whose driver was killed: a file,\n" +
			"a folder eventlog_v2_… or the zip of one log that a history server gives, here or in S3. Prints its\n" +
			"phases, and sends its spans with their own times. A second import repeats no span. If a local cloud\n" +
			"is running, its collector receives them; otherwise --endpoint does.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.run(cmd.Context(), s, args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	c.Flags().StringVar(&t.endpoint, "endpoint", "", "`host:port` of a collector that receives the spans (OTLP over gRPC)")
	c.Flags().StringVar(&t.cluster, "cluster", "", "EMR cluster id (j-…) that the spans are labelled with")
	c.Flags().BoolVar(&t.dryRun, "dry-run", false, "send nothing")
	c.Flags().BoolVar(&t.asJSON, "json", false, "print the result as JSON")
	return c
}

func (t traceImport) run(ctx context.Context, s *settings, name string, out, progress io.Writer) error {
	state, err := s.stateDir()
	if err != nil {
		return err
	}
	running, _, err := local.Connect(state) // also sets the credentials of the local S3
	if err != nil {
		return err
	}
	own := running.Addresses[string(platform.WorkloadCollector)] // "" without a local cloud
	t.endpoint = cmp.Or(t.endpoint, own)
	if t.endpoint == "" && !t.dryRun {
		return errors.New("no collector to send the spans to: set --endpoint host:port, or --dry-run to print the phases only")
	}
	log, err := openEventLog(ctx, name)
	if err != nil {
		return err
	}
	done, trace, err := read(ctx, log, t.cluster)
	if err != nil {
		return err
	}
	if !t.dryRun {
		if err := trace.Send(ctx, t.endpoint); err != nil {
			return err
		}
		done.Endpoint = t.endpoint
		if t.endpoint == own && own != "" {
			done.Link = traceLink(ctx, running, done)
		}
	}
	if done.Truncated != "" {
		fmt.Fprintf(progress, "%s: the log is cut off there\n", done.Truncated)
	}
	if done.Damaged != "" {
		fmt.Fprintf(progress, "%s: what cannot be read there is left out\n", done.Damaged)
	}
	if done.Unread != "" {
		fmt.Fprintf(progress, "%s: events like this are left out\n", done.Unread)
	}
	if t.asJSON {
		return json.NewEncoder(out).Encode(done)
	}
	return done.print(out)
}

// read divides an application's wall clock and makes its spans, in one pass.
func read(ctx context.Context, log eventLog, cluster string) (imported, spans.Trace, error) {
	engine, builder := phases.NewEngine(), spans.NewBuilder()
	report, err := log.Read(ctx, func(event eventlog.Event) error {
		engine.Add(event)
		builder.Add(event)
		return nil
	})
	if err != nil {
		return imported{}, spans.Trace{}, log.explain(ctx, report, err)
	}
	result := engine.Result()
	labels := map[platform.Label]string{}
	if cluster != "" {
		labels[platform.Cluster] = cluster
	}
	trace := builder.Trace(result, labels)
	if trace.Application == "" {
		err := fmt.Errorf("event log %s: no SparkListenerApplicationStart in %d events, so its spans have no ids", log.shown, report.Events)
		if report.Damaged != "" {
			err = fmt.Errorf("%w; %s: what cannot be read there was left out", err, report.Damaged)
		}
		if report.Events == 0 {
			err = fmt.Errorf("%w: %w", err, errNoEventLog)
		}
		return imported{}, spans.Trace{}, err
	}
	return imported{
		Application: trace.Application, Name: trace.Name, TraceID: trace.ID, Line: phases.Line(result.Seconds(), result.Approximate),
		Result: result, Events: report.Events, Truncated: report.Truncated, Unread: report.Unread, Damaged: report.Damaged,
		Spans: trace.Count, Dropped: trace.Dropped,
	}, trace, nil
}

func (i imported) print(out io.Writer) error {
	fmt.Fprintf(out, "%s %s: %s\n\n", i.Application, i.Name, i.Line)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	wall := i.End - i.Begin
	row := func(name string, millis int64) {
		fmt.Fprintf(table, "%s\t%.1f s\t%.1f %%\t\n", name, float64(millis)/1000, 100*float64(millis)/float64(max(1, wall)))
	}
	for _, phase := range platform.Phases() {
		row(string(phase), i.Phases[phase])
	}
	row("wall", wall)
	if i.FirstExecutorWait != nil {
		fmt.Fprintf(table, "first executor after\t%.1f s\t\t\n", float64(*i.FirstExecutorWait)/1000)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the phases: %w", err)
	}
	sent := "not sent"
	if i.Endpoint != "" {
		sent = "sent to " + i.Endpoint
	}
	begin := time.UnixMilli(i.Begin).UTC().Format(time.RFC3339)
	fmt.Fprintf(out, "\ntrace %s: %d spans from %s on, %s", i.TraceID, i.Spans, begin, sent)
	if i.Dropped > 0 {
		fmt.Fprintf(out, "; %d more exceed the budget of a trace", i.Dropped)
	}
	fmt.Fprintln(out)
	switch {
	case i.Link != "":
		fmt.Fprintln(out, "  "+i.Link)
	case i.Endpoint != "":
		fmt.Fprintln(out, "  to see it, search the platform's Grafana (stack output grafanaUrl), Explore, for the trace's id")
	}
	return nil
}
