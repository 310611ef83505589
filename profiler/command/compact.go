package command

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

const compactAbout = `Copies the rows of each table and day into one object below ` + tables.Compacted + `/, where they have changed. SQL
engines then open one file where there was one per application: ddl --compacted declares these objects. Each is replaced at
once, and the tables themselves stay as they are. From then on run, judge, expire and delete end with the same, for what
they have changed.

Exit codes: %d all days are compacted; %d some are not, such as those with a damaged object: the output names them, and these
days stay as they were; %d the tables cannot be read or written; %d invalid options.`

var compactHelp = fmt.Sprintf(compactAbout, run.ExitComplete, run.ExitIncomplete, run.ExitFailed, run.ExitUsage)

func compactCommand() *cobra.Command {
	c := newCommand("compact", "Copy the rows of each day into one object per table", compactHelp)
	flags := run.AddFlags(c.Flags(), run.LakeOptions())
	asJSON := c.Flags().Bool("json", false, "print as JSON")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		options, config, err := resolved(cmd.Context(), flags)
		if err != nil {
			return err
		}
		log := progress.New(cmd.ErrOrStderr())
		done, err := run.Compact(cmd.Context(), config, options, cmd.CommandPath(), log.Printf)
		if err != nil {
			return err
		}
		if err := printCompaction(cmd.OutOrStdout(), done, *asJSON); err != nil {
			return fmt.Errorf("print what was compacted: %w", err)
		}
		if len(done.Failed) > 0 {
			return &CodeError{Code: run.ExitIncomplete}
		}
		return nil
	}
	return c
}

func printCompaction(out io.Writer, c lake.Compaction, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(c)
	}
	_, err := fmt.Fprintf(out, "compacted  %d of %d days: %d objects of %d rows (%d bytes) written, %d removed\n",
		c.Compacted, c.Days, c.Objects, c.Rows, c.Bytes, c.Removed)
	for _, failed := range c.Failed {
		if err == nil {
			_, err = fmt.Fprintf(out, "failed     %s\n", run.DescribeUncompacted(failed))
		}
	}
	return err
}
