package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/profiler/judge"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/rules"
)

const judgeAbout = `Judges the applications in the tables by the rules (docs/reference/rules.md), and writes what it finds to the table
findings. It reads no event log and no history server. Every run ends with the same: use this command after a new version
has brought other rules. What has been judged by the present rules, and has not changed since, is left as it is. Tables that
are compacted are compacted again.

Exit codes: %d all have been judged; %d rows of some applications cannot be read: the output names them; %d the tables cannot
be read or written; %d invalid options.`

var judgeHelp = fmt.Sprintf(judgeAbout, run.ExitComplete, run.ExitIncomplete, run.ExitFailed, run.ExitUsage)

func judgeCommand() *cobra.Command {
	c := newCommand("judge", "Judge the applications in the tables by the rules", judgeHelp)
	flags := run.AddFlags(c.Flags(), run.LakeOptions())
	asJSON := c.Flags().Bool("json", false, "print as JSON")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		options, config, err := resolved(cmd.Context(), flags)
		if err != nil {
			return err
		}
		log := progress.New(cmd.ErrOrStderr())
		var summary judge.Summary
		err = run.Locked(cmd.Context(), config, options, cmd.CommandPath(), func(kept *lake.Lake, _ run.Place) (err error) {
			summary, err = judge.All(cmd.Context(), kept, func(s judge.Summary) {
				if s.Judged > 0 && s.Judged%judgedPerLine == 0 {
					log.Printf("%d applications judged", s.Judged)
				}
			})
			return err
		})
		if err != nil && summary.Attempts == 0 {
			return err
		}
		if printed := printJudged(cmd.OutOrStdout(), summary, *asJSON); printed != nil {
			return errors.Join(err, printed)
		}
		if err != nil {
			return unlessUncompacted(err)
		}
		if len(summary.Failed) > 0 {
			return &CodeError{Code: run.ExitIncomplete}
		}
		return nil
	}
	return c
}

// judgedPerLine is after how many applications there is a line of progress: some seconds.
const judgedPerLine = 500

func printJudged(out io.Writer, s judge.Summary, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(s); err != nil {
			return fmt.Errorf("print what was judged: %w", err)
		}
		return nil
	}
	fmt.Fprintf(out, "applications  %d in the tables, %d judged, %d already judged by these rules (%s)\n",
		s.Attempts, s.Judged, s.Current, s.Rules)
	fmt.Fprintf(out, "findings      %s\n", countsByRule(s.Findings))
	if len(s.NotChecked) > 0 {
		fmt.Fprintf(out, "not checked   %s (applications; table findings has the reasons)\n", countsByRule(s.NotChecked))
	}
	for _, f := range s.Failed {
		id := strings.Join([]string{f.ClusterID, f.ApplicationID, f.AttemptID}, " ")
		fmt.Fprintf(out, "failed        %s: %s\n", cmp.Or(f.Manifest, strings.TrimSpace(id)), f.Reason)
	}
	return nil
}

// countsByRule lists counts, the largest first.
func countsByRule(counts map[rules.ID]int64) string {
	if len(counts) == 0 {
		return "none"
	}
	ids := slices.SortedFunc(maps.Keys(counts), func(a, b rules.ID) int {
		if counts[a] != counts[b] {
			return int(counts[b] - counts[a])
		}
		return strings.Compare(string(a), string(b))
	})
	var all []string
	for _, id := range ids {
		all = append(all, fmt.Sprintf("%s %d", id, counts[id]))
	}
	return strings.Join(all, ", ")
}
