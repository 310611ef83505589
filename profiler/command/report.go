package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/pages"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/report"
)

var reportHelp = fmt.Sprintf(`Writes the page of an application: where its time went, what was found and what to change, its jobs,
stages and executors over time, and what was not checked. It is one HTML file without scripts, which asks no address for
anything.

It reads the tables, or with --logs a folder of event logs, which it judges in a temporary folder (of TMPDIR). Without an
argument there must be one application only.

Exit codes: %d the page is written; %d with --logs, no event log could be read: the error says why; %d the tables lack the
application or cannot be read, or the page cannot be written; %d invalid options.`,
	run.ExitComplete, run.ExitIncomplete, run.ExitFailed, run.ExitUsage)

const reportExamples = `  # from the tables in S3
  observatory-profiler report application_1700000000000_0001 --s3-output-path s3://bucket/lake/history/ --html job.html
  # from one event log, or the zip in which a history server gave it
  observatory-profiler report --logs ./eventLogs-application_1700000000000_0001.zip --html job.html`

func reportCommand() *cobra.Command {
	c := newCommand("report [APPLICATION]", "Write the page of an application", reportHelp)
	c.Example = reportExamples
	c.Args = func(c *cobra.Command, args []string) error {
		if err := cobra.MaximumNArgs(1)(c, args); err != nil {
			return usage(err)
		}
		return nil
	}
	flags := run.AddFlags(c.Flags(), run.Table())
	file := c.Flags().String("html", "", "file to write; by default the application's id with .html")
	asJSON := c.Flags().Bool("json", false, "print what the page shows as JSON, and write no file unless --html names one")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		options, config, err := resolved(cmd.Context(), flags)
		if err != nil {
			return err
		}
		id := ""
		if len(args) > 0 {
			id = args[0]
		}
		log := progress.New(cmd.ErrOrStderr())
		page, err := pageOf(cmd.Context(), config, options, id, log)
		if err != nil {
			return err
		}
		if *asJSON {
			encoder := json.NewEncoder(cmd.OutOrStdout())
			encoder.SetIndent("", "  ")
			if err := encoder.Encode(page); err != nil {
				return fmt.Errorf("print the page: %w", err)
			}
		}
		if *asJSON && *file == "" {
			return nil
		}
		name := cmp.Or(*file, page.ID+".html")
		if err := writePage(name, page); err != nil {
			return err
		}
		log.Printf("%s: %s", name, page.Verdict())
		return nil
	}
	return c
}

// pageOf makes the page from the tables, or from event logs.
func pageOf(ctx context.Context, config aws.Config, o run.Options, id string, log *progress.Log) (page report.Application, failed error) {
	if o.Logs != "" {
		dir, err := os.MkdirTemp("", "observatory-report-")
		if err != nil {
			return page, fmt.Errorf("create the folder of the report's tables: %w", err)
		}
		defer func() { failed = errors.Join(failed, os.RemoveAll(dir)) }()
		o.Output, o.S3OutputPath = dir, ""
		summary, err := run.Run(ctx, config, o, lines{log})
		if err != nil {
			return page, err
		}
		if summary.ApplicationsRead == 0 && len(summary.Incomplete) > 0 {
			return page, &CodeError{run.ExitIncomplete, errors.New(summary.Incomplete[0].Reason)}
		}
	}
	kept, _, err := run.Open(ctx, config, o)
	if err != nil {
		return page, err
	}
	return pages.Of(ctx, kept, id)
}

// pageTimeout bounds how long somebody waits for a page.
const pageTimeout = 25 * time.Second

// servePages serves the pages of applications in the tables.
func servePages(config aws.Config, o run.Options) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), pageTimeout)
		defer cancel()
		kept, _, err := run.Open(ctx, config, o)
		var page report.Application
		if err == nil {
			page, err = pages.Of(ctx, kept, r.PathValue("id"))
		}
		switch {
		case errors.Is(err, pages.ErrUnknown) || errors.Is(err, run.ErrNoTables):
			http.Error(w, err.Error(), http.StatusNotFound)
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadGateway)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(page) // fails only if the client is gone: the types always encode
		}
	})
}

// writePage writes a page to a file; an older one stays until the new one is whole.
func writePage(name string, page report.Application) (err error) {
	part, err := os.CreateTemp(filepath.Dir(name), ".report-")
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part.Name()))
		}
	}()
	err = errors.Join(report.Write(part, page, platform.SourceURL), part.Chmod(0o644), part.Close())
	if err == nil {
		err = os.Rename(part.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("write the page to %s: %w", name, err)
	}
	return nil
}
