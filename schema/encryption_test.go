package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// warnedPaths returns the paths of the warnings of cluster etl.
func warnedPaths(c schema.Cluster) []string {
	var l violation.List
	c.Validate(&l, "clusters.etl", false)
	var paths []string
	for _, w := range l.Warnings() {
		paths = append(paths, w.Path)
	}
	return paths
}

func TestCertificatesEndMetricsOverHTTP(t *testing.T) {
	const at = "clusters.etl.encryption.certificates"
	for release, warned := range map[string]bool{"emr-6.15.0": false, "emr-7.2.0": false, "emr-7.3.0": true, "emr-7.10.0": true} {
		var c schema.Cluster
		c.SetDefaults()
		c.ReleaseLabel = release
		require.NotContains(t, warnedPaths(c), at, release)
		c.Encryption.Certificates = "s3://bucket/tls.zip"
		if warned {
			require.Contains(t, warnedPaths(c), at, release)
		} else {
			require.NotContains(t, warnedPaths(c), at, release)
		}
	}
}
