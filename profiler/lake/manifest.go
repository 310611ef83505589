package lake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

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

// readManifest returns nil if there is none.
func readManifest(ctx context.Context, store Store, key string) (*manifest, error) {
	raw, err := readAll(ctx, store, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // documented
	}
	m := &manifest{}
	if err == nil {
		err = json.Unmarshal(raw, m)
	}
	if err != nil {
		return nil, fmt.Errorf("read the manifest %s: %w", key, err)
	}
	return m, known(m.SchemaVersion, key)
}

// known refuses what a newer version of this program wrote.
func known(version int, key string) error {
	if version > tables.SchemaVersion {
		return fmt.Errorf("%s has schema version %d, but this program knows versions up to %d: use a newer one",
			key, version, tables.SchemaVersion)
	}
	return nil
}
