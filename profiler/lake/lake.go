// Package lake keeps the tables of Spark history as Parquet files in a folder or in S3,
// for Spark, DuckDB and Athena to read in place.
//
// An object holds the rows of one table of one attempt of an application (or of one
// cluster): <prefix><table>/dt=YYYY-MM-DD/<application>.<attempt>.<cluster>.<region>.<account>.parquet,
// where dt is the UTC date on which the application started. The same rows yield the same
// bytes, and a table without rows has no object. Beside the tables, <prefix>_manifest/
// holds a small JSON object per attempt and cluster with the hash of each object. Spark
// and DuckDB skip it, because its name starts with an underscore.
//
// A commit first records in the manifest that it has begun, then writes the objects that
// differ, removes those of tables that no longer have rows, and completes the manifest. A
// commit that was killed is visible in the manifest: the attempt is then re-read, and every
// object rewritten or removed. Until then readers may see new rows of one table beside old
// rows of another; table applications is written last.
//
// Only one process may write. Lock takes a lease with an expiry, and a commit without a
// valid lease is refused. The lease guards against a second writer started by mistake. If a
// writer is suspended for longer than the lease lasts and then completes a request that
// was in flight, the object may differ from its hash in the manifest, and from the compacted
// copy of its day, until the attempt's source changes.
//
// Compact copies each day of a table into one object under <prefix>compacted/, which SQL engines read many times
// faster, and so does Read where it wants whole days.
//
// It is not a table format: there are no transactions across attempts and no version
// history.
package lake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Lake is the tables under a prefix of a store. Its methods may be called concurrently.
type Lake struct {
	ctx    context.Context
	store  Store
	prefix string
	lease  atomic.Pointer[Lease]

	mu       sync.Mutex
	open     map[string]bool   // manifest keys of open batches
	unjudged bool              // the store says that not all attempts are judged
	unmarked map[tableDay]bool // whose marks of compaction this process has removed

	changing sync.RWMutex // exclusive while a day is compacted
}

// Open returns the lake under a prefix, which is empty or ends in a slash. A lake that
// does not exist is empty. ctx bounds the requests of methods that take no context.
func Open(ctx context.Context, store Store, prefix string) (*Lake, error) {
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		return nil, fmt.Errorf("prefix of the lake %q: must end in a slash; write %q", prefix, prefix+"/")
	}
	return &Lake{ctx: ctx, store: store, prefix: prefix, open: map[string]bool{}, unmarked: map[tableDay]bool{}}, nil
}

// Held is what the lake has of an attempt or a cluster. Source and Unread are those of
// Batch.Describe.
type Held struct {
	manifest
	store  Store
	prefix string
}

// held returns what the lake has according to a manifest, complete or not; nil if nothing.
func (l *Lake) held(ctx context.Context, key string) (*Held, error) {
	m, err := readManifest(ctx, l.store, l.prefix+key)
	if err != nil || m == nil {
		return nil, err
	}
	return &Held{*m, l.store, l.prefix}, nil
}

// Rows returns the number of rows in a table.
func (h *Held) Rows(name tables.Name) int64 { return h.Objects[name].Rows }

// IsRead reports whether it has an application's row, rather than only one of completeness that
// says that the application was not read.
func (h *Held) IsRead() bool { return h.Rows(tables.Table((*tables.Application)(nil))) > 0 }

// Current returns an attempt's data if it is complete, else nil: a source with one of these
// fingerprints will never have more, and the schema version is the present one, so the
// attempt need not be read again. If the store cannot be read the data counts as
// incomplete, and Commit will return the error.
func (l *Lake) Current(id tables.Attempt, fingerprints ...string) *Held {
	return l.current(attemptManifest(id), fingerprints)
}

// Earlier returns what the lake has of an attempt, complete or not; nil if that is nothing, or
// what an interrupted commit left.
func (l *Lake) Earlier(ctx context.Context, id tables.Attempt) (*Held, error) {
	held, err := l.held(ctx, attemptManifest(id))
	if held != nil && held.Writing {
		held = nil
	}
	return held, err
}

// Exists reports whether a run has written to the lake. If it was compacted, copies of its rows may be left although all
// rows have been deleted.
func (l *Lake) Exists(ctx context.Context) (bool, error) {
	for _, prefix := range []string{clusterManifests, attemptManifests, compactedKey} {
		for _, err := range l.store.List(ctx, l.prefix+prefix) {
			return err == nil, err // the error names the request
		}
	}
	return false, nil
}

// HasRows reports whether the lake has read an application attempt, or has what an interrupted
// commit left of it.
func (l *Lake) HasRows(ctx context.Context, id tables.Attempt) (bool, error) {
	held, err := l.held(ctx, attemptManifest(id))
	return held != nil && (held.Writing || held.IsRead()), err
}

// Cluster returns a cluster's data, complete or not; nil if there is none.
func (l *Lake) Cluster(ctx context.Context, id tables.Cluster) (*Held, error) {
	return l.held(ctx, clusterManifest(id))
}

// IsClusterCurrent reports whether the rows of a cluster are complete in the same sense.
func (l *Lake) IsClusterCurrent(id tables.Cluster, fingerprints ...string) bool {
	return l.current(clusterManifest(id), fingerprints) != nil
}

// current returns what is final and has one of the fingerprints, else nil.
func (l *Lake) current(key string, fingerprints []string) *Held {
	held, err := l.held(l.ctx, key)
	if err != nil || held == nil || !held.Final || held.Writing || held.SchemaVersion != tables.SchemaVersion ||
		!slices.Contains(fingerprints, held.Fingerprint) {
		return nil
	}
	return held
}

// Begin starts a batch of all rows of an attempt. start is when the application started, or
// the zero time if unknown; it determines the partition.
func (l *Lake) Begin(id tables.Attempt, start time.Time) (*Batch, error) {
	if id.ApplicationID == "" || id.ClusterID == "" {
		return nil, fmt.Errorf("application %q of cluster %q: an attempt in the lake needs the ids of both", id.ApplicationID, id.ClusterID)
	}
	return l.begin(attemptManifest(id), attemptName(id), tables.OfAttempt, manifest{
		SchemaVersion: tables.SchemaVersion, Account: id.Account, Region: id.Region, ClusterID: id.ClusterID,
		ApplicationID: id.ApplicationID, AttemptID: id.AttemptID, Day: day(start),
	})
}

// BeginCluster starts a batch of all rows of a cluster. created is when the cluster was
// created, or the zero time if unknown.
func (l *Lake) BeginCluster(id tables.Cluster, created time.Time) (*Batch, error) {
	if id.ClusterID == "" {
		return nil, fmt.Errorf("cluster %q: a cluster in the lake needs an id", id.ClusterName)
	}
	return l.begin(clusterManifest(id), clusterName(id), tables.OfCluster, manifest{
		SchemaVersion: tables.SchemaVersion, Account: id.Account, Region: id.Region, ClusterID: id.ClusterID, Day: day(created),
	})
}

func (l *Lake) begin(key, name string, scope tables.Scope, m manifest) (*Batch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[key] {
		return nil, fmt.Errorf("%s: another batch for it is open", key)
	}
	l.open[key] = true
	return &Batch{lake: l, key: key, name: name, scope: scope, manifest: m, writers: map[tables.Name]tableWriter{}}, nil
}

func (l *Lake) end(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, key)
}

func attemptManifest(id tables.Attempt) string { return attemptManifests + attemptName(id) + ".json" }
func clusterManifest(id tables.Cluster) string { return clusterManifests + clusterName(id) + ".json" }

// putRows and removeRows change an object of a table.
func (l *Lake) putRows(ctx context.Context, key string, content io.ReadSeeker) error {
	return l.change(ctx, key, func() error { return l.put(ctx, key, content) })
}

func (l *Lake) removeRows(ctx context.Context, key string) error {
	return l.change(ctx, key, func() error { return l.remove(ctx, key) })
}

// put, remove and writeManifest change the store if this process holds the lease.
func (l *Lake) put(ctx context.Context, key string, content io.ReadSeeker) error {
	if err := l.checkLease(); err != nil {
		return err
	}
	return l.store.Put(ctx, l.prefix+key, content) // the error names the object
}

func (l *Lake) remove(ctx context.Context, key string) error {
	if err := l.checkLease(); err != nil {
		return err
	}
	return l.store.Delete(ctx, l.prefix+key) // the error names the object
}

func (l *Lake) writeManifest(ctx context.Context, key string, m *manifest) error {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write the manifest %s: %w", key, err)
	}
	return l.put(ctx, key, bytes.NewReader(append(raw, '\n')))
}

// Store keeps objects by key. A key is a relative path with slashes.
type Store interface {
	// Get opens an object, or returns fs.ErrNotExist.
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	// Put creates or replaces an object atomically: readers see the old content or the new.
	Put(ctx context.Context, key string, body io.ReadSeeker) error
	// Swap atomically replaces the content old; nil means that there must be no object. It
	// returns ErrChanged if the object's content is not old.
	Swap(ctx context.Context, key string, old, content []byte) error
	// List yields the keys with a prefix, in order. It ends at the first error.
	List(ctx context.Context, prefix string) iter.Seq2[string, error]
	// Folders returns the names directly below a prefix that have keys below them, in
	// order. The prefix ends in a slash.
	Folders(ctx context.Context, prefix string) ([]string, error)
	// Delete removes an object. Removing one that does not exist is not an error.
	Delete(ctx context.Context, key string) error
}

// ErrChanged means that an object's content is not what the caller of Swap expected.
var ErrChanged = errors.New("the object has changed")

func readAll(ctx context.Context, store Store, key string) ([]byte, error) {
	body, err := store.Get(ctx, key)
	if err != nil {
		return nil, err // names the object
	}
	defer body.Close()
	return io.ReadAll(body) // callers name the object
}
