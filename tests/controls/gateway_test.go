package controls_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	locals3 "github.com/emr-observatory/emr-observatory/localcloud/s3"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// The roles' own policies, in front of a real S3, admit each machine to its prefixes
// and to nothing else.
func TestRolesReachTheirPrefixesOnly(t *testing.T) {
	binary, err := servers.Find(t.Context(), servers.VersityGW)
	require.NoError(t, err)
	g, err := locals3.Start(t.Context(), locals3.Options{
		Binary: binary, Dir: t.TempDir(), Address: testenv.Address(t), Region: "us-east-1",
		AccessKey: "key", SecretKey: "secret-key", Log: io.Discard,
	})
	require.NoError(t, err)
	t.Cleanup(g.Stop)
	bucket := "data"
	for role, policy := range map[string]string{"node": "emr-main-node", "control": "control-access", "tools": "control-tools-access"} {
		document := find(t, resources(t, "dev"), "RolePolicy", policy).Text("policy")
		recorded := regexp.MustCompile(`"([^/"]+)/(?:artifacts|lake/history)/\*"`).FindStringSubmatch(document)
		require.NotEmpty(t, recorded, "%s reads artifacts/ or the history", policy)
		document = strings.ReplaceAll(document, recorded[1], "arn:aws:s3:::"+bucket) // the recorder's ARNs are not S3's
		require.NoError(t, g.Roles.Put(t.Context(), role))
		require.NoError(t, g.Roles.PutPolicy(t.Context(), role, policy, document))
	}
	_, err = g.Client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket})
	require.NoError(t, err)
	prefixes := append(platform.Prefixes(),
		platform.PrefixHistory, platform.ClusterLogs("main"), platform.ClusterLogs("another"), "elsewhere/")
	for _, p := range prefixes {
		require.NoError(t, g.Put(t.Context(), bucket, string(p)+"object", []byte("x")))
	}
	// What each may do under a prefix: get, put, delete, list.
	for role, admitted := range map[string]map[platform.Prefix]string{
		"node":  {platform.PrefixLake: "GPDL", platform.ClusterLogs("main"): "PL", platform.PrefixArtifacts: "GL"},
		"tools": {platform.PrefixHistory: "GL"},
		"control": {platform.PrefixTempo: "GPDL", platform.PrefixPyroscope: "GPDL", platform.PrefixHistory: "GPDL",
			platform.PrefixEMRLogs: "GL", platform.ClusterLogs("main"): "GL", platform.ClusterLogs("another"): "GL", platform.PrefixArtifacts: "GL"},
	} {
		client, err := g.ClientOf(t.Context(), role)
		require.NoError(t, err)
		for _, p := range prefixes {
			require.Equal(t, admitted[p], permitted(t, client, bucket, string(p)), "%s under %s", role, p)
		}
		_, err = client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &bucket})
		require.True(t, isForbidden(t, err), "%s lists the whole bucket", role)
	}
}

// permitted returns the letters of the operations that S3 does not forbid.
func permitted(t *testing.T, client *s3.Client, bucket, prefix string) (letters string) {
	t.Helper()
	key, own := prefix+"object", prefix+"own"
	for _, operation := range []struct {
		letter string
		try    func() error
	}{
		{"G", func() error {
			_, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: &key})
			return err
		}},
		{"P", func() error {
			_, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &own, Body: strings.NewReader("x")})
			return err
		}},
		{"D", func() error {
			_, err := client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: &own})
			return err
		}},
		{"L", func() error {
			_, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix})
			return err
		}},
	} {
		if !isForbidden(t, operation.try()) {
			letters += operation.letter
		}
	}
	return letters
}

// isForbidden reports whether S3 has refused a request. Any other error fails the test.
func isForbidden(t *testing.T, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	var answer interface{ HTTPStatusCode() int }
	require.ErrorAs(t, err, &answer)
	require.Equal(t, http.StatusForbidden, answer.HTTPStatusCode(), err)
	return true
}
