package lake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// manifest records what the lake holds of an attempt or a cluster.
type manifest struct {
	SchemaVersion int    `json:"schema_version"`
	Account       string `json:"account,omitempty"`
	Region        string `json:"region,omitempty"`
	ClusterID     string `json:"cluster_id"`
	ApplicationID string `json:"application_id,omitempty"` // attempts only
	AttemptID     string `json:"attempt_id,omitempty"`
	Day           string `json:"dt"`
	// Fingerprint is the watermark: how much of the source has been read. A source with the
	// same one has not grown since.
	Fingerprint string `json:"fingerprint"`
	Final       bool   `json:"final"`
	// Source is that of an attempt's rows. Unread means that some rows could not be read.
	Source tables.Source `json:"source,omitempty"`
	Unread bool          `json:"unread,omitempty"`
	// Tries counts the commits that Batch.Retry affected since the fingerprint changed.
	Tries int `json:"tries,omitempty"`
	// Writing is true during a commit, and stays true if the commit is interrupted.
	Writing bool                   `json:"writing,omitempty"`
	Objects map[tables.Name]object `json:"objects"`
	// Stale lists the keys that the commit removes.
	Stale []string `json:"stale,omitempty"`
}

// object is a Parquet file. Its key is without the lake's prefix.
type object struct {
	Key    string `json:"key"`
	SHA256 string `json:"sha256"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
}

// readManifest reads a manifest. It returns nil if there is none.
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
	return m, checkVersion(m.SchemaVersion, key)
}

// checkVersion returns an error if a newer version of this program wrote the object.
func checkVersion(version int, key string) error {
	if version > tables.SchemaVersion {
		return fmt.Errorf("%s has schema version %d, but this program knows versions up to %d: use a newer program",
			key, version, tables.SchemaVersion)
	}
	return nil
}
