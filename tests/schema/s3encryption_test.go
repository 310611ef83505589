package schema_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/stacks/config"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// stackKey is the key of a stack.
const stackKey = "arn:aws:kms:us-east-1:123456789012:key/stack"

// TestJobsLeaveEncryptionToTheBucket asks S3A itself what it would tell S3 of a job's objects.
// In no bucket is it the stack's key: the data bucket encrypts with it by default, and readers
// of other buckets may not use it. What the cluster's owner sets for a bucket stays.
func TestJobsLeaveEncryptionToTheBucket(t *testing.T) {
	var own schema.Cluster
	own.SetDefaults()
	require.Equal(t, []string{"NONE", "NONE"}, writtenAs(t, own, "data-bucket", "curated"), "by default")
	cfg, err := config.Parse(readEveryKey(t).values(t, "kept", map[string]string{"new": own.ReleaseLabel}))
	require.NoError(t, err)
	require.Contains(t, cfg.Clusters, "groups-new")
	const teams = "arn:aws:kms:us-east-1:123456789012:key/team"
	withEveryKey := cfg.Clusters["groups-new"]
	withEveryKey.Configurations = append(withEveryKey.Configurations, schema.Configuration{
		Classification: "core-site", Properties: map[string]string{
			"fs.s3a.bucket.curated.encryption.algorithm": "SSE-KMS", "fs.s3a.bucket.curated.encryption.key": teams,
		},
	})
	require.Equal(t, []string{"NONE", "NONE", "SSE_KMS " + teams}, writtenAs(t, withEveryKey, "data-bucket", "raw", "curated"))
}

// writtenAs returns how a cluster's S3A encrypts in each bucket.
func writtenAs(t *testing.T, cluster schema.Cluster, buckets ...string) []string {
	t.Helper()
	tree, err := applications.Fetch(t.Context(), nil)
	require.NoError(t, err)
	text, err := observe.Render(observe.ConfigurationsOf(cluster, "0.1"))
	require.NoError(t, err)
	var configurations []hadoop.Configuration
	require.NoError(t, json.Unmarshal([]byte(text), &configurations))
	root := t.TempDir()
	for path, content := range hadoop.Files(hadoop.Node{
		ClusterID: "j-TEST", Release: cluster.ReleaseLabel, Region: "us-east-1", Role: platform.RoleCore, Host: "ip-10-0-1-11",
		MasterHost: "ip-10-0-1-10", Domain: "ec2.internal", CoreNodes: 2, MemoryMB: 3072, VCores: 4,
		Configurations: append(configurations, securityClassification(t, cluster)),
	}) {
		file := filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	}
	h, s := filepath.Join(root, platform.EMRHadoopConfDir), filepath.Join(root, platform.EMRSparkConfDir)
	path := []string{h, s, filepath.Join(tree, "spark", "jars", "*"), filepath.Join(tree, "hadoop", "lib", "*")}
	java := exec.CommandContext(t.Context(), "java", append([]string{
		"-cp", strings.Join(path, ":"), filepath.Join("testdata", "S3Encryption.java"),
	}, buckets...)...)
	var said strings.Builder
	java.Stderr = &said
	out, err := java.Output()
	require.NoError(t, err, said.String())
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// securityClassification is what EMR tells S3A for the cluster's security configuration, which
// goes before its classifications (EMR Release Guide, "Specifying Amazon S3 encryption using
// EMRFS properties", "Migration Guide: EMRFS to S3A Filesystem").
func securityClassification(t *testing.T, cluster schema.Cluster) hadoop.Configuration {
	t.Helper()
	text, err := observe.SecurityConfigurationOf(cluster, stackKey)
	require.NoError(t, err)
	var document struct {
		EncryptionConfiguration struct {
			AtRestEncryptionConfiguration struct {
				S3EncryptionConfiguration *struct{ EncryptionMode, AwsKmsKey string }
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &document))
	told := hadoop.Configuration{Classification: "core-site", Properties: map[string]string{}}
	if s := document.EncryptionConfiguration.AtRestEncryptionConfiguration.S3EncryptionConfiguration; s != nil {
		told.Properties["fs.s3a.encryption.algorithm"], told.Properties["fs.s3a.encryption.key"] = s.EncryptionMode, s.AwsKmsKey
	}
	return told
}
