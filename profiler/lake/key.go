package lake

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Folders beside the tables. Spark and DuckDB skip names that start with an underscore.
const (
	attemptManifests = "_manifest/attempts/"
	clusterManifests = "_manifest/clusters/"
	leaseKey         = "_manifest/writer.json"
)

// longest is how many bytes each part of a file's name may have: together they stay below
// the 255 bytes of a file system, and a key below the 1,024 bytes of S3.
const longest = 44

// attemptName names an attempt in keys. The place where the rows were read is no part of
// it: rows of logs replace those of REST.
func attemptName(id tables.Attempt) string {
	return strings.Join([]string{
		part(id.ApplicationID), part(id.AttemptID), part(id.ClusterID), part(id.Region), part(id.Account),
	}, ".")
}

func clusterName(id tables.Cluster) string {
	return strings.Join([]string{part(id.ClusterID), part(id.Region), part(id.Account)}, ".")
}

// part makes an id safe as part of a file's name: ASCII letters, digits, "_" and "-" stay,
// any other byte becomes ~ and two hexadecimal digits. An empty id is "-"; a long one is
// cut and gets a hash. Ids come from event logs, so anybody who runs a Spark application
// chooses them. Two ids never give the same part.
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
	if b.Len() <= longest {
		return b.String()
	}
	sum := sha256.Sum256([]byte(id))
	// "~~" is in no escaped id.
	return b.String()[:longest-18] + "~~" + hex.EncodeToString(sum[:8])
}

// objectKey returns the key of an object, without the lake's prefix.
func objectKey(table tables.Name, day, name string) string {
	return fmt.Sprintf("%s/dt=%s/%s.parquet", table, day, name)
}

// day returns the partition of an instant. An unknown one is in 1970.
func day(at time.Time) string {
	if at.IsZero() {
		at = time.Unix(0, 0)
	}
	return at.UTC().Format(time.DateOnly)
}
