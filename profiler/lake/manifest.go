package lake

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// manifest says what the lake holds of an attempt or a cluster.
type manifest struct {
	SchemaVersion int    `json:"schema_version"`
	Account       string `json:"account,omitempty"`
	Region        string `json:"region,omitempty"`
	ClusterID     string `json:"cluster_id"`
	ApplicationID string `json:"application_id,omitempty"` // of attempts
	AttemptID     string `json:"attempt_id,omitempty"`
	Day           string `json:"dt"`
	Fingerprint   string `json:"fingerprint"` // of the source
	Final         bool   `json:"final"`
	// Writing is true from before the first object of a commit is written until all are.
	Writing bool                   `json:"writing,omitempty"`
	Objects map[tables.Name]object `json:"objects"`
	// Stale are the keys that the commit under way removes.
	Stale []string `json:"stale,omitempty"`
}

// object is a Parquet file. Its key has no prefix.
type object struct {
	Key    string `json:"key"`
	SHA256 string `json:"sha256"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
}

func (m *manifest) attempt() tables.Attempt {
	return tables.Attempt{
		Cluster:       tables.Cluster{Account: m.Account, Region: m.Region, ClusterID: m.ClusterID},
		ApplicationID: m.ApplicationID, AttemptID: m.AttemptID,
	}
}

// manifestReads is how many manifests are read at a time.
const manifestReads = 16

// readManifests reads all manifests of a lake, by their key without the prefix.
func readManifests(ctx context.Context, store Store, prefix string) (map[string]*manifest, error) {
	all := map[string]*manifest{}
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(manifestReads)
	for _, folder := range []string{attemptManifests, clusterManifests} {
		for key, err := range store.List(ctx, prefix+folder) {
			if err != nil {
				return nil, fmt.Errorf("read the lake's manifests: %w", err)
			}
			read := &manifest{}
			all[strings.TrimPrefix(key, prefix)] = read
			group.Go(func() error {
				raw, err := readAll(reading, store, key)
				if err == nil {
					err = json.Unmarshal(raw, read)
				}
				if err != nil {
					return fmt.Errorf("read the lake's manifest %s: %w", key, err)
				}
				return nil
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err //nolint:wrapcheck // wrapped above
	}
	return all, nil
}

func writeManifest(ctx context.Context, store Store, key string, m *manifest) error {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write the manifest %s: %w", key, err)
	}
	return store.Put(ctx, key, bytes.NewReader(append(raw, '\n'))) //nolint:wrapcheck // names the object
}
