package cloud_test

import (
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
