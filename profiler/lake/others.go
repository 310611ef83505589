package lake

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Others returns the data of the attempts on a cluster, complete or not, except the known
// ones. It lists the manifests of all clusters.
func (l *Lake) Others(ctx context.Context, id tables.Cluster, known []tables.Attempt) ([]*Held, error) {
	keys, err := l.manifestKeys(ctx, tables.OfAttempt, Filter{ClusterID: id.ClusterID})
	if err != nil {
		return nil, err // the error names the request
	}
	skip := map[string]bool{}
	for _, attempt := range known {
		skip[attemptManifest(attempt)] = true
	}
	keys = slices.DeleteFunc(keys, func(key string) bool {
		cluster, ok := clusterOf(key)
		return !ok || cluster != clusterName(id)+".json" || skip[key]
	})
	held := make([]*Held, len(keys))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(prefetch)
	for i, key := range keys {
		group.Go(func() (err error) {
			held[i], err = l.held(ctx, key)
			return err // the error names the manifest
		})
	}
	err = group.Wait()
	return slices.DeleteFunc(held, func(h *Held) bool { return h == nil }), err // removed meanwhile
}
