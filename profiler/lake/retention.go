package lake

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Removed is an attempt or a cluster whose rows were removed.
type Removed struct {
	ClusterID, ApplicationID, AttemptID string // the last two empty for a cluster
	Day                                 string // partition, YYYY-MM-DD
	Objects                             int
	Rows, Bytes                         int64
}

// Expire removes attempts of applications that started, and clusters that were created,
// before a UTC day; a cluster stays as long as the lake has attempts on it. It returns what
// it removed or, in a dry run, would remove. Reading a source that still exists brings the
// rows back, unless the caller skips older applications.
func (l *Lake) Expire(ctx context.Context, before time.Time, dry bool) ([]Removed, error) {
	last := day(before.UTC().AddDate(0, 0, -1))
	f := Filter{To: last}
	attempts, err := l.manifestKeys(ctx, tables.OfAttempt, f)
	var removed []Removed
	if err == nil {
		removed, err = l.delete(ctx, f, attempts, dry)
	}
	if err != nil {
		return removed, fmt.Errorf("remove rows older than %s: %w", day(before), err)
	}
	return removed, nil
}

// Delete removes the attempts that a filter selects and, if it names no application, the
// clusters without remaining attempts. An empty filter is refused. It returns what it removed
// or, in a dry run, would remove. The next run opens the clusters of the attempts again, so
// that a source that still exists brings the rows back.
func (l *Lake) Delete(ctx context.Context, f Filter, dry bool) ([]Removed, error) {
	if f == (Filter{}) {
		return nil, errors.New("delete from the lake: the filter selects everything; name a cluster, an application or days")
	}
	attempts, err := l.manifestKeys(ctx, tables.OfAttempt, f)
	if err == nil && !dry {
		err = l.reopen(ctx, attempts)
	}
	if err != nil {
		return nil, err
	}
	return l.delete(ctx, f, attempts, dry)
}

// reopen marks the clusters of attempts, given by the keys of their manifests, as not final.
func (l *Lake) reopen(ctx context.Context, attempts []string) error {
	clusters := map[string]bool{}
	for _, key := range attempts {
		if cluster, ok := clusterOf(key); ok {
			clusters[clusterManifests+cluster] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(clusters)) {
		m, err := readManifest(ctx, l.store, l.prefix+key)
		if err != nil {
			return err
		}
		if m == nil || !m.Final {
			continue
		}
		m.Final = false
		if err := l.writeManifest(ctx, key, m); err != nil {
			return err
		}
	}
	return nil
}

// clusterOf returns the name of the cluster's manifest from the key of an attempt's: what
// follows the application and its attempt.
func clusterOf(key string) (name string, ok bool) {
	parts := strings.SplitN(path.Base(key), ".", 3)
	if len(parts) < 3 {
		return "", false
	}
	return parts[2], true
}

// delete removes attempts, given by the keys of their manifests, and the clusters that the
// filter selects and that have no other.
func (l *Lake) delete(ctx context.Context, f Filter, attempts []string, dry bool) ([]Removed, error) {
	var removed []Removed
	gone := map[string]bool{}
	for _, key := range attempts {
		gone[key] = true
		r, err := l.erase(ctx, key, dry)
		if err != nil {
			return removed, err
		}
		removed = append(removed, r)
	}
	if f.ApplicationID != "" {
		return removed, nil
	}
	clusters, err := l.manifestKeys(ctx, tables.OfCluster, f)
	if err != nil || len(clusters) == 0 {
		return removed, err
	}
	used, err := l.clustersInUse(ctx, gone)
	if err != nil {
		return removed, err
	}
	for _, key := range clusters {
		if used[path.Base(key)] {
			continue
		}
		r, err := l.erase(ctx, key, dry)
		if err != nil {
			return removed, err
		}
		removed = append(removed, r)
	}
	return removed, nil
}

// manifestKeys returns the keys of the manifests that a filter selects, in order. Their
// names lack the day, so days are looked up in the keys of objects.
func (l *Lake) manifestKeys(ctx context.Context, scope tables.Scope, f Filter) ([]string, error) {
	folder := map[tables.Scope]string{tables.OfAttempt: attemptManifests, tables.OfCluster: clusterManifests}[scope]
	names := map[string]bool{}
	if f.From == "" && f.To == "" {
		for key, err := range l.store.List(ctx, l.prefix+folder) {
			if err != nil {
				return nil, err
			}
			if name := strings.TrimSuffix(path.Base(key), ".json"); f.matchesName(name) {
				names[name] = true
			}
		}
	} else {
		for _, d := range tables.All() {
			if d.Scope != scope {
				continue
			}
			for key, err := range l.find(ctx, d.Name, f) {
				if err != nil {
					return nil, err
				}
				names[strings.TrimSuffix(path.Base(key), ".parquet")] = true
			}
		}
	}
	var keys []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		keys = append(keys, folder+name+".json")
	}
	return keys, nil
}

// clustersInUse returns the manifest names of the clusters that the lake has attempts on,
// besides those whose manifest keys are in gone.
func (l *Lake) clustersInUse(ctx context.Context, gone map[string]bool) (map[string]bool, error) {
	used := map[string]bool{}
	for key, err := range l.store.List(ctx, l.prefix+attemptManifests) {
		if err != nil {
			return nil, err
		}
		if gone[strings.TrimPrefix(key, l.prefix)] {
			continue
		}
		if cluster, ok := clusterOf(key); ok {
			used[cluster] = true
		}
	}
	return used, nil
}

// erase removes all objects of a manifest, and the manifest last.
func (l *Lake) erase(ctx context.Context, key string, dry bool) (Removed, error) {
	m, err := readManifest(ctx, l.store, l.prefix+key)
	if err != nil {
		return Removed{}, err
	}
	if m == nil {
		return Removed{}, fmt.Errorf(
			"the manifest %s%s is missing, but the tables have its objects: delete */dt=*/%s.parquet and, if there is one, %s%s, and"+
				" repeat the command",
			l.prefix, key, strings.TrimSuffix(path.Base(key), ".json"), l.prefix, compactedMarks)
	}
	removed := Removed{ClusterID: m.ClusterID, ApplicationID: m.ApplicationID, AttemptID: m.AttemptID, Day: m.Day}
	keys := m.Stale
	for _, o := range m.Objects {
		keys = append(keys, o.Key)
		removed.Objects++
		removed.Rows += o.Rows
		removed.Bytes += o.Bytes
	}
	if dry {
		return removed, nil
	}
	intent := *m
	intent.Writing, intent.Stale, intent.Objects = true, keys, nil
	if err := l.writeManifest(ctx, key, &intent); err != nil {
		return removed, err
	}
	if name, ok := strings.CutPrefix(key, attemptManifests); ok {
		keys = append(keys, triesFolder+name)
	}
	for _, object := range keys {
		if err := l.removeRows(ctx, object); err != nil {
			return removed, err
		}
	}
	return removed, l.remove(ctx, key)
}

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
