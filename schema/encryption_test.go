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

// EMR's guide says of Spark with TLS and Kerberos how it reaches Hive's metastore.
func TestInTransitEncryptionWithKerberosAndMetastore(t *testing.T) {
	var c schema.Cluster
	c.SetDefaults()
	c.Applications = append(c.Applications, "Hive")
	c.Encryption.Certificates = "s3://bucket/tls.zip"
	count := func() (n int) {
		for _, path := range warnedPaths(c) {
			if path == "clusters.etl.encryption.certificates" {
				n++
			}
		}
		return n
	}
	require.Equal(t, 1, count())
	c.Kerberos = &schema.Kerberos{Realm: "EC2.INTERNAL", PasswordParameter: "/observatory/kdc", TicketLifetimeHours: 24}
	require.Equal(t, 2, count())
	c.GlueCatalog = true
	require.Equal(t, 1, count())
	c.GlueCatalog = false
	c.Configurations = []schema.Configuration{{Classification: "hive-site", Properties: map[string]string{"hive.metastore.use.SSL": "false"}}}
	require.Equal(t, 1, count())
}

func TestRealmsAreInUpperCase(t *testing.T) {
	var c schema.Cluster
	c.SetDefaults()
	trust := schema.RealmTrust{Realm: "ad.example.com", Domain: "ad.example.com", AdminServer: "ad.example.com", KDCServer: "ad.example.com",
		PasswordParameter: "/observatory/trust"}
	c.Kerberos = &schema.Kerberos{Realm: "ec2.internal", PasswordParameter: "/observatory/kdc", TicketLifetimeHours: 24, Trust: &trust}
	require.Subset(t, warnedPaths(c), []string{"clusters.etl.kerberos.realm", "clusters.etl.kerberos.trust.realm"})
	c.Kerberos.Realm, trust.Realm = "EC2.INTERNAL", "AD.EXAMPLE.COM"
	require.NotContains(t, warnedPaths(c), "clusters.etl.kerberos.realm")
	require.NotContains(t, warnedPaths(c), "clusters.etl.kerberos.trust.realm")
}
