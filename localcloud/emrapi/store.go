package emrapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// Store holds clusters with their instances and steps, and persistent UIs, in memory
// and as a file for each cluster and UI. It is safe for concurrent use, and returns copies.
type Store struct {
	Account Account // set before clusters are put

	dir     string
	mu      sync.Mutex
	records map[string]*record
	uis     map[string]persistentUI
	changed chan struct{} // closed and replaced at each change
}

// Open reads the clusters of a folder, or creates the folder. A folder belongs to
// one process at a time.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open clusters: %w", err)
	}
	records, err := loadRecords(dir)
	if err != nil {
		return nil, err
	}
	uis, err := loadPersistentUIs(dir)
	if err != nil {
		return nil, err
	}
	return &Store{dir: dir, records: records, uis: uis, changed: make(chan struct{})}, nil
}

// NewID returns a random id in EMR's form. Its prefix is j (cluster), s (step), ig
// (instance group), if (instance fleet), ci (instance) or p (persistent UI).
func NewID(prefix string) string { return prefix + "-" + rand.Text()[:13] }

// snapshot returns a record for reading only.
func (s *Store) snapshot(id string) (*record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.records[id]
	if !ok {
		return nil, fmt.Errorf("cluster %q: %w", id, ErrNotFound)
	}
	return found, nil
}

// read returns a copy of a part of a record.
func read[T any](s *Store, id string, part func(*record) T) (copied T, err error) {
	found, err := s.snapshot(id)
	if err != nil {
		return copied, err
	}
	return clone(part(found))
}

// change applies a function to a copy of a record, writes the copy and replaces the
// record by it. On an error the record stays as it was.
func (s *Store) change(id string, apply func(*record) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.records[id]
	if !ok {
		return fmt.Errorf("cluster %q: %w", id, ErrNotFound)
	}
	next, err := clone(*found)
	if err != nil {
		return err
	}
	if err := apply(&next); err != nil {
		return err
	}
	return s.put(&next)
}

// put validates, writes and stores a record. The caller holds the lock.
func (s *Store) put(r *record) error {
	if err := r.validate(); err != nil {
		return fmt.Errorf("cluster record:\n%w", err)
	}
	r.countRunning()
	if err := saveRecord(s.dir, r); err != nil {
		return err
	}
	s.records[aws.ToString(r.Cluster.Id)] = r
	s.announce()
	return nil
}

// announce tells those who wait of a change. The caller holds the lock.
func (s *Store) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Changed returns a channel that is closed at the next change of the Store. Call it
// before reading, so that no change is missed.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Wait blocks until a cluster satisfies a condition.
func (s *Store) Wait(ctx context.Context, id string, until func(types.Cluster) bool) error {
	for {
		changed := s.Changed()
		cluster, err := s.Cluster(id)
		if err != nil {
			return err
		}
		if until(cluster) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for cluster %s, now %s: %w", id, cluster.Status.State, ctx.Err())
		}
	}
}

// putNew adds a cluster in STARTING. It sets the status and creation times of the
// cluster, its groups and fleets; the caller sets ids (NewID).
func (s *Store) putNew(added *record) error {
	created := now()
	added.Cluster.Status = &types.ClusterStatus{
		State:             types.ClusterStateStarting,
		StateChangeReason: &types.ClusterStateChangeReason{},
		Timeline:          &types.ClusterTimeline{CreationDateTime: created},
	}
	for i := range added.Groups {
		added.Groups[i].Status = provisioningGroup(created)
	}
	for i := range added.Fleets {
		added.Fleets[i].Status = provisioningFleet(created)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := aws.ToString(added.Cluster.Id)
	if _, taken := s.records[id]; taken {
		return fmt.Errorf("put cluster: Cluster.Id: %q: taken; make another with NewID", id)
	}
	return s.put(added)
}

// Cluster returns a copy of the cluster with an id, or ErrNotFound.
func (s *Store) Cluster(id string) (types.Cluster, error) {
	return read(s, id, func(r *record) types.Cluster { return r.Cluster })
}

// ClusterIDs lists the clusters, the newest first.
func (s *Store) ClusterIDs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	created := func(id string) time.Time { return *s.records[id].Cluster.Status.Timeline.CreationDateTime }
	return slices.SortedFunc(maps.Keys(s.records), func(a, b string) int {
		return cmp.Or(created(b).Compare(created(a)), strings.Compare(a, b))
	})
}

// UpdateCluster changes a cluster, such as the DNS name of its primary node, but not
// its id and status.
func (s *Store) UpdateCluster(id string, update func(*types.Cluster)) error {
	return s.change(id, func(r *record) error {
		status, state := r.Cluster.Status, r.state()
		update(&r.Cluster)
		if aws.ToString(r.Cluster.Id) != id || r.Cluster.Status != status || status.State != state {
			return errors.New("update cluster: Id and Status are not for UpdateCluster; use SetClusterState")
		}
		return nil
	})
}

// AutoTermination returns a cluster's auto-termination policy, or nil.
func (s *Store) AutoTermination(id string) (*types.AutoTerminationPolicy, error) {
	return read(s, id, func(r *record) *types.AutoTerminationPolicy { return r.AutoTermination })
}
