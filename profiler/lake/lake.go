package lake

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Lake is the tables under a prefix of a store. Its methods may be called at the same time.
type Lake struct {
	store  Store
	prefix string

	mu        sync.Mutex
	manifests map[string]*manifest // by key without the prefix; never changed once there
	open      map[string]bool      // keys of the manifests of batches under way
	lease     *Lease
}

// Open reads what a lake holds. The prefix is empty or ends in a slash. A lake that does
// not exist is empty. One that a newer version of this program wrote is refused.
func Open(ctx context.Context, store Store, prefix string) (*Lake, error) {
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		return nil, fmt.Errorf("prefix of the lake %q: must end in a slash; write %q", prefix, prefix+"/")
	}
	manifests, err := readManifests(ctx, store, prefix)
	if err != nil {
		return nil, err
	}
	for key, m := range manifests {
		if m.SchemaVersion > tables.SchemaVersion {
			return nil, fmt.Errorf("%s%s has schema version %d, this program knows versions up to %d: use a newer version of it",
				prefix, key, m.SchemaVersion, tables.SchemaVersion)
		}
	}
	return &Lake{store: store, prefix: prefix, manifests: manifests, open: map[string]bool{}}, nil
}

// IsCurrent reports whether the lake holds all that a source with this fingerprint will
// ever say of an attempt, in this version of the schema: it need not be read again.
func (l *Lake) IsCurrent(id tables.Attempt, fingerprint string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.manifests[attemptManifest(id)]
	return m != nil && m.Final && !m.Writing && m.Fingerprint == fingerprint && m.SchemaVersion == tables.SchemaVersion
}

// Begin starts a batch of all rows of an attempt. start is when the application started,
// the zero time if that is unknown; it gives the partition.
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
// created, the zero time if that is unknown.
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
		return nil, fmt.Errorf("%s: another batch of it is under way", key)
	}
	l.open[key] = true
	return newBatch(l, key, name, scope, m), nil
}

// done ends a batch. m is its manifest as it is in the store, nil if that did not change.
func (l *Lake) done(key string, m *manifest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, key)
	if m != nil {
		l.manifests[key] = m
	}
}

func (l *Lake) manifest(key string) *manifest {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.manifests[key]
}

func attemptManifest(id tables.Attempt) string { return attemptManifests + attemptName(id) + ".json" }
func clusterManifest(id tables.Cluster) string { return clusterManifests + clusterName(id) + ".json" }
