package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/run"
)

const expireHelp = `Removes the rows of applications that started more than retention_days ago, and of clusters that were created before and
have no applications left. "run" does the same at its end, if retention_days is set.`

const deleteHelp = `Removes the rows of a cluster, of an application or of days, from all tables. Where several flags are given,
all of them must fit. A source that still has the history brings the rows back at the next run.`

func expireCommand() *cobra.Command {
	c := newCommand("expire", "Remove the rows that are older than retention_days", expireHelp)
	remove := addRemoval(c)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		return remove.from(cmd, func(ctx context.Context, kept *lake.Lake, o run.Options) ([]lake.Removed, error) {
			before := o.Oldest(time.Now())
			if before.IsZero() {
				return nil, usage(run.Violation{
					Path: "retention_days", Value: "0", Rule: "must be 1 or more to remove anything", Remedy: "give --retention-days",
				})
			}
			return kept.Expire(ctx, before, remove.dry)
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
	c.Flags().StringVar(&attempt, "attempt", "", "attempt of the application; \"\" is that of client mode")
	c.Flags().StringVar(&f.From, "from", "", "first day (UTC) on which the application started, YYYY-MM-DD")
	c.Flags().StringVar(&f.To, "to", "", "last day")
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

// checkFilter returns all that is wrong with what delete was given.
func checkFilter(f lake.Filter) error {
	var found []error
	for flag, value := range map[string]string{"--from": f.From, "--to": f.To} {
		if _, err := time.Parse(time.DateOnly, value); value != "" && err != nil {
			found = append(found, run.Violation{
				Path: "flag " + flag, Value: value, Rule: "must be a date such as 2026-01-31", Remedy: "correct it, or leave it out",
			})
		}
	}
	if f == (lake.Filter{}) || f.AttemptID != nil && f.ApplicationID == "" {
		found = append(found, run.Violation{
			Path: "flags", Rule: "must choose rows by --account, --cluster, --application (with --attempt), --from or --to", Remedy: "give one",
		})
	}
	return errors.Join(found...)
}

// removal is what expire and delete have in common.
type removal struct {
	flags       run.Flags
	dry, asJSON bool
}

func addRemoval(c *cobra.Command) *removal {
	r := &removal{flags: run.AddLakeFlags(c.Flags())}
	c.Flags().BoolVar(&r.dry, "dry-run", false, "only print what would be removed")
	c.Flags().BoolVar(&r.asJSON, "json", false, "print as JSON")
	return r
}

// from opens the tables, removes from them, and prints what was removed.
func (r *removal) from(cmd *cobra.Command, remove func(context.Context, *lake.Lake, run.Options) ([]lake.Removed, error)) error {
	options, err := r.flags.Resolve(os.LookupEnv)
	if err != nil {
		return usage(err)
	}
	config, err := awsConfig(cmd.Context())
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
	return errors.Join(err, r.print(cmd, removed))
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
	for _, of := range removed {
		fmt.Fprintf(out, "%s  %s %s %s  %d objects, %d rows\n", of.Day, of.ClusterID, of.ApplicationID, of.AttemptID, of.Objects, of.Rows)
	}
	verb := "removed"
	if r.dry {
		verb = "to be removed"
	}
	fmt.Fprintf(out, "%d applications and clusters %s\n", len(removed), verb)
	return nil
}
