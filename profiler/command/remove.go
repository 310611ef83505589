package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/run"
)

const expireHelp = `Removes the rows of applications that started more than retention_days ago, and of clusters that were created before
that and have no applications left. If retention_days is set, every run ends with the same. Tables that are compacted are
compacted again.`

const deleteHelp = `Removes the rows of a cluster, of an application or of days from all tables. Several flags select the rows that
match all of them. If the source still has the history, the next run brings the rows back. Tables that are compacted are
compacted again: until the command has ended, the copies have the rows.`

func expireCommand() *cobra.Command {
	c := newCommand("expire", "Remove rows older than retention_days", expireHelp)
	remove := addRemoval(c)
	remove.check = func(o run.Options) error {
		if o.RetentionDays > 0 {
			return nil
		}
		return run.Violation{
			Path: "retention_days", Value: "0", Rule: "must be 1 or more to remove anything", Remedy: "give --retention-days",
		}
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		return remove.from(cmd, func(ctx context.Context, kept *lake.Lake, o run.Options) ([]lake.Removed, error) {
			return kept.Expire(ctx, o.Oldest(time.Now()), remove.dry)
		})
	}
	return c
}

func deleteCommand() *cobra.Command {
	c := newCommand("delete", "Remove the rows of a cluster, of an application or of days", deleteHelp)
	remove := addRemoval(c)
	var f lake.Filter
	var attempt string
	c.Flags().StringVar(&f.Account, "account", "", "AWS account of the cluster")
	c.Flags().StringVar(&f.ClusterID, "cluster", "", "id of the cluster")
	c.Flags().StringVar(&f.ApplicationID, "application", "", "id of the application")
	c.Flags().StringVar(&attempt, "attempt", "", "attempt of the application; \"\" in client mode")
	c.Flags().StringVar(&f.From, "from", "", "applications that started on this day (UTC) or later, YYYY-MM-DD")
	c.Flags().StringVar(&f.To, "to", "", "applications that started on this day (UTC) or earlier")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("attempt") {
			f.AttemptID = &attempt
		}
		if err := checkFilter(f); err != nil {
			return usage(err)
		}
		return remove.from(cmd, func(ctx context.Context, kept *lake.Lake, _ run.Options) ([]lake.Removed, error) {
			return kept.Delete(ctx, f, remove.dry)
		})
	}
	return c
}

// checkFilter returns all violations in delete's flags.
func checkFilter(f lake.Filter) error {
	var found []error
	for flag, value := range map[string]string{"--from": f.From, "--to": f.To} {
		if _, err := time.Parse(time.DateOnly, value); value != "" && err != nil {
			found = append(found, run.Violation{
				Path: "flag " + flag, Value: value, Rule: "must be a date such as 2026-01-31", Remedy: "correct it, or leave it out",
			})
		}
	}
	if f == (lake.Filter{}) {
		found = append(found, errors.New("no rows are selected; give --account, --cluster, --application, --from or --to"))
	}
	if f.AttemptID != nil && f.ApplicationID == "" {
		found = append(found, errors.New("--attempt selects nothing without --application; give both"))
	}
	return errors.Join(found...)
}

// removal is the common part of expire and delete.
type removal struct {
	flags       run.Flags
	check       func(run.Options) error // further rules; may be nil
	dry, asJSON bool
}

func addRemoval(c *cobra.Command) *removal {
	r := &removal{flags: run.AddFlags(c.Flags(), run.LakeOptions())}
	c.Flags().BoolVar(&r.dry, "dry-run", false, "only print what would be removed")
	c.Flags().BoolVar(&r.asJSON, "json", false, "print as JSON")
	return r
}

// from opens and locks the tables, removes from them, and prints the removed rows.
func (r *removal) from(cmd *cobra.Command, remove func(context.Context, *lake.Lake, run.Options) ([]lake.Removed, error)) error {
	options, config, err := resolved(cmd.Context(), r.flags, r.check)
	if err != nil {
		return err
	}
	var removed []lake.Removed
	err = run.Locked(cmd.Context(), config, options, cmd.CommandPath(), func(kept *lake.Lake, _ run.Place) (err error) {
		removed, err = remove(cmd.Context(), kept, options)
		return err
	})
	if err != nil && len(removed) == 0 {
		return err
	}
	if printed := r.print(cmd, removed); printed != nil {
		return errors.Join(err, printed)
	}
	return unlessUncompacted(err)
}

func (r *removal) print(cmd *cobra.Command, removed []lake.Removed) error {
	out := cmd.OutOrStdout()
	if r.asJSON {
		if removed == nil {
			removed = []lake.Removed{}
		}
		if err := json.NewEncoder(out).Encode(removed); err != nil {
			return fmt.Errorf("print what was removed: %w", err)
		}
		return nil
	}
	for _, one := range removed {
		fmt.Fprintf(out, "%s  %s %s %s  %d objects, %d rows\n", one.Day, one.ClusterID, one.ApplicationID, one.AttemptID, one.Objects, one.Rows)
	}
	verb := "removed"
	if r.dry {
		verb = "to be removed"
	}
	fmt.Fprintf(out, "%d applications and clusters %s\n", len(removed), verb)
	return nil
}
