package lake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

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
	// Judged says by what the rows were judged (SetFindings); empty if they were not, or have
	// changed since.
	Judged string `json:"judged,omitempty"`
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
	if err != nil {
		return nil, fmt.Errorf("read the manifest %s: %w", key, err)
	}
	return parseManifest(raw, key)
}

func parseManifest(raw []byte, key string) (*manifest, error) {
	m := &manifest{}
	if err := json.Unmarshal(raw, m); err != nil {
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

// Folders beside the tables. Spark and DuckDB skip names that start with an underscore.
const (
	attemptManifests = "_manifest/attempts/"
	clusterManifests = "_manifest/clusters/"
	triesFolder      = "_manifest/tries/"
	leaseKey         = "_manifest/writer.json"
	judgedKey        = "_manifest/judged.json"
	compactedMarks   = "_manifest/compacted/"     // of tables' days
	compactedKey     = "_manifest/compacted.json" // of the lake
)

// maxPart is the maximum length of a part of a file's name, in bytes: names stay below a file
// system's limit of 255 bytes, and keys below S3's of 1,024.
const maxPart = 44

// attemptName returns an attempt's name in keys. It leaves out the source: rows from logs
// replace those from REST.
func attemptName(id tables.Attempt) string {
	return strings.Join([]string{
		part(id.ApplicationID), part(id.AttemptID), part(id.ClusterID), part(id.Region), part(id.Account),
	}, ".")
}

func clusterName(id tables.Cluster) string {
	return strings.Join([]string{part(id.ClusterID), part(id.Region), part(id.Account)}, ".")
}

// part escapes an id for use in a file's name: ASCII letters, digits, and "_" and "-" after
// the first byte are kept, any other byte becomes ~ and two hex digits. An empty id is "-"; a
// long one is truncated and gets a hash. Ids come from event logs, so anyone who runs a Spark
// application can choose them. No two ids have the same part.
func part(id string) string {
	if id == "" {
		return "-"
	}
	var b strings.Builder
	for i := range len(id) {
		c := id[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || (c == '_' || c == '-') && i > 0
		if plain {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "~%02x", c)
	}
	if b.Len() <= maxPart {
		return b.String()
	}
	sum := sha256.Sum256([]byte(id))
	// No escaped id contains "~~".
	return b.String()[:maxPart-18] + "~~" + hex.EncodeToString(sum[:8])
}

// objectKey returns the key of an object, without the lake's prefix.
func objectKey(table tables.Name, day, name string) string {
	return fmt.Sprintf("%s/dt=%s/%s.parquet", table, day, name)
}

// day returns the partition of a time. The zero time is in 1970.
func day(at time.Time) string {
	if at.IsZero() {
		at = time.Unix(0, 0)
	}
	return at.UTC().Format(time.DateOnly)
}
