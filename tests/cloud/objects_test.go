package cloud_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud"
)

// objects returns a client of the cloud's S3.
func (c *cloud) objects(t *testing.T) *s3.Client {
	t.Helper()
	secret, err := localcloud.LoadCredentials(c.state)
	require.NoError(t, err)
	return s3.New(s3.Options{
		Region: localcloud.AWSRegion, UsePathStyle: true, BaseEndpoint: aws.String(c.running(t).URL("s3")),
		Credentials: credentials.NewStaticCredentialsProvider(secret.AccessKeyID, secret.SecretAccessKey, ""),
	})
}

// keys lists the keys under a prefix, or none while S3 does not answer.
func (c *cloud) keys(t *testing.T, bucket, prefix string) []string {
	t.Helper()
	var keys []string
	pages := s3.NewListObjectsV2Paginator(c.objects(t), &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			return nil
		}
		for _, o := range page.Contents {
			keys = append(keys, *o.Key)
		}
	}
	return keys
}

// accountsDir is where the local IAM keeps the keys of roles: for its owner only.
func (c *cloud) accountsDir() string { return filepath.Join(c.state, "s3", "iam") }

// roleKey is an access key of a role.
type roleKey struct{ SecretAccessKey, LastUsedService string }

// roleKeys returns the access keys by role.
func (c *cloud) roleKeys(t *testing.T) map[string][]roleKey {
	t.Helper()
	info, err := os.Stat(c.accountsDir())
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077)
	raw, err := os.ReadFile(filepath.Join(c.accountsDir(), "iam.json"))
	require.NoError(t, err)
	var accounts struct {
		Users map[string]struct{ AccessKeys []roleKey }
	}
	require.NoError(t, json.Unmarshal(raw, &accounts))
	keys := map[string][]roleKey{}
	for role, user := range accounts.Users {
		keys[role] = user.AccessKeys
	}
	return keys
}

// rolesReachS3 checks that nodes and control node work with the keys of their own
// roles, which may do what the stack's policies allow (tests/controls).
func rolesReachS3(t *testing.T, c *cloud) {
	keys := c.roleKeys(t)
	used := 0
	for role, own := range keys {
		if strings.Contains(role, "tools-role") {
			continue // its key is used once the tools are asked
		}
		for _, k := range own {
			require.Equal(t, "s3", k.LastUsedService, role)
			used++
		}
	}
	require.Equal(t, 2, used, "of the control node and of EMR's nodes; EMR's service role has no machine: %v", slices.Sorted(maps.Keys(keys)))
	require.Len(t, keys[c.outputs(t).Clusters["main"].NodeRoleName], 1)
}
