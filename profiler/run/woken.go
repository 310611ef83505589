package run

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Woken does what Run does, but for one cluster, and reports which of its applications are not
// in the tables to their end.
func Woken(ctx context.Context, config aws.Config, o Options, wake serve.Wake, progress Progress) (serve.Found, error) {
	o.ClusterID = wake.Cluster
	progress.Printf("%s: woken for %d applications", wake.Cluster, len(wake.Applications))
	summary, err := Run(ctx, config, o, progress)
	if err != nil {
		return serve.Found{}, err
	}
	found := serve.Found{From: summary.Through, Excluded: summary.ClustersFound == 0}
	kept, _, err := Open(ctx, config, o)
	if err != nil {
		return found, err
	}
	if found.Missing, err = unended(ctx, kept, wake); err != nil {
		return found, err
	}
	progress.Printf("%s: %d of these applications are in the tables", wake.Cluster, len(wake.Applications)-len(found.Missing))
	return found, nil
}

// unended returns the applications of which the tables do not have the end. A killed driver
// writes none to its event log; the state of its step says how it ended.
func unended(ctx context.Context, kept *lake.Lake, wake serve.Wake) ([]string, error) {
	missing := slices.Clone(wake.Applications)
	for row, err := range lake.Read[tables.Application](ctx, kept, lake.Filter{ClusterID: wake.Cluster}) {
		if err != nil {
			return missing, err // names the table
		}
		if row.EndTime > 0 || row.Outcome != nil {
			missing = slices.DeleteFunc(missing, func(id string) bool { return id == row.ApplicationID })
		}
	}
	return missing, nil
}
