package lake

import (
	"context"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// selectsAll reports whether the filter selects whole days.
func (f Filter) selectsAll() bool {
	return f == Filter{From: f.From, To: f.To}
}

// find yields the keys of a table's objects, the latest days first unless manifests list them.
func (l *Lake) find(ctx context.Context, table tables.Name, f Filter) iter.Seq2[string, error] {
	d, _ := tables.Find(table)
	if f.ApplicationID != "" && d.Scope == tables.OfAttempt {
		return l.fromManifests(ctx, table, attemptManifests+part(f.ApplicationID)+".", f)
	}
	if f.ClusterID != "" && d.Scope == tables.OfCluster {
		return l.fromManifests(ctx, table, clusterManifests+part(f.ClusterID)+".", f)
	}
	return l.fromDays(ctx, table, f, nil)
}

// readsCopy reports whether a day's compacted object is read although the filter selects only some of the day's
// objects: more than are fetched at a time, and not so few that most of what is read would be in vain.
func readsCopy(selected, all int) bool { return selected > prefetch && selected >= all/16 }

// findRows is find, with one compacted object in the place of those of a day if that has the same rows in the same
// order. If the caller skips rows of other clusters, a compacted object may have some.
func (l *Lake) findRows(ctx context.Context, table tables.Name, f Filter, skipsOthers bool) iter.Seq2[string, error] {
	d, _ := tables.Find(table)
	ofOne := f.ApplicationID != "" || f.AttemptID != nil || f.ClusterID != "" && d.Scope == tables.OfCluster
	if ofOne || !skipsOthers && !f.selectsAll() {
		return l.find(ctx, table, f)
	}
	return func(yield func(string, error) bool) {
		marked := map[tableDay]bool{}
		for key, err := range l.store.List(ctx, l.prefix+compactedMarks+string(table)+"/") {
			if err != nil {
				yield("", err)
				return
			}
			marked[l.ofMark(key)] = true
		}
		l.fromDays(ctx, table, f, marked)(yield)
	}
}

// isMarked reports whether a day's compacted object is current.
func (l *Lake) isMarked(ctx context.Context, day tableDay) (bool, error) {
	for _, err := range l.store.List(ctx, l.prefix+day.mark()) {
		return err == nil, err // the error names the request
	}
	return false, nil
}

// fromDays yields the keys of a table's objects from listings of its days. For a marked day it may be that of the
// compacted object.
func (l *Lake) fromDays(ctx context.Context, table tables.Name, f Filter, marked map[tableDay]bool) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		folders, err := l.store.Folders(ctx, l.prefix+string(table)+"/")
		if err != nil {
			yield("", err)
			return
		}
		var days []tableDay
		for _, name := range slices.Backward(folders) {
			if one := tableDay(string(table) + "/" + name); one.day() != "" && f.matchesDay(one.day()) {
				days = append(days, one)
			}
		}
		keysOf := func(ctx context.Context, i int) (keys []string, err error) {
			compacted := []string{l.prefix + days[i].compacted()}
			if marked[days[i]] && f.selectsAll() {
				return compacted, nil
			}
			all := 0
			for key, err := range l.store.List(ctx, l.prefix+string(days[i])+"/") {
				if err != nil {
					return nil, err
				}
				if all++; f.matchesName(strings.TrimSuffix(path.Base(key), ".parquet")) {
					keys = append(keys, key)
				}
			}
			if marked[days[i]] && readsCopy(len(keys), all) {
				still, err := l.isMarked(ctx, days[i]) // after the listing: an application may have been added before it
				if still || err != nil {
					return compacted, err
				}
			}
			return keys, nil
		}
		listAhead(ctx, len(days), keysOf)(yield)
	}
}

// listsAhead is how many listings run at a time. Their keys take little memory.
const listsAhead = 16

// listAhead yields the keys of n listings, one after the other.
func listAhead(ctx context.Context, n int, list func(ctx context.Context, i int) ([]string, error)) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for keys, err := range Ahead(ctx, n, listsAhead, list) {
			if err != nil {
				yield("", err)
				return
			}
			for _, key := range keys {
				if !yield(key, nil) {
					return
				}
			}
		}
	}
}
