package localcloud

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/simulator"
)

// storageParts returns the resources of S3 that are real.
func (c *cloud) storageParts() map[string]part {
	return map[string]part{
		"aws:s3/bucketV2:BucketV2": {
			once: true,
			put: func(ctx context.Context, r simulator.Result) error {
				name := text(r.Outputs, "bucket")
				if _, err := c.objects.Client.CreateBucket(ctx, &awss3.CreateBucketInput{Bucket: &name}); err != nil {
					return fmt.Errorf("create bucket %s: %w", name, err)
				}
				return nil
			},
			exists: func(ctx context.Context, r simulator.Result) (bool, error) { return c.objects.Exists(ctx, r.ID, "") },
			remove: c.deleteBucket,
		},
		"aws:s3/bucketObjectv2:BucketObjectv2": {
			put: c.putObject,
			exists: func(ctx context.Context, r simulator.Result) (bool, error) {
				return c.objects.Exists(ctx, text(r.Outputs, "bucket"), text(r.Outputs, "key"))
			},
			remove: func(ctx context.Context, r simulator.Request) error {
				bucket, key := text(r.Outputs, "bucket"), text(r.Outputs, "key")
				if _, err := c.objects.Client.DeleteObject(ctx, &awss3.DeleteObjectInput{Bucket: &bucket, Key: &key}); err != nil {
					return fmt.Errorf("delete object s3://%s/%s: %w", bucket, key, err)
				}
				return nil
			},
		},
	}
}

func (c *cloud) deleteBucket(ctx context.Context, r simulator.Request) error {
	if flag(r.Outputs, "forceDestroy") {
		if err := c.objects.Empty(ctx, r.ID); err != nil {
			return err
		}
	}
	if _, err := c.objects.Client.DeleteBucket(ctx, &awss3.DeleteBucketInput{Bucket: &r.ID}); err != nil {
		return fmt.Errorf("delete bucket %s: %w (only forceDestroy deletes a bucket that holds objects)", r.ID, err)
	}
	return nil
}

func (c *cloud) putObject(ctx context.Context, r simulator.Result) error {
	bucket, key := text(r.Outputs, "bucket"), text(r.Outputs, "key")
	content, source := text(r.Outputs, "content"), r.Outputs["source"]
	switch {
	case source.IsAsset() && source.AssetValue().IsPath():
		return c.objects.PutFile(ctx, bucket, key, source.AssetValue().Path)
	case source.IsAsset() && source.AssetValue().IsText():
		return c.objects.Put(ctx, bucket, key, []byte(source.AssetValue().Text))
	case content != "":
		return c.objects.Put(ctx, bucket, key, []byte(content))
	}
	return fmt.Errorf("put object %s: source or content must be set", key)
}

// lookupObject reads an object as the provider does: only what its Content-Type calls text has a body
// (terraform-provider-aws, aws_s3_object).
func (c *cloud) lookupObject(ctx context.Context, args resource.PropertyMap) (resource.PropertyMap, error) {
	bucket, key := text(args, "bucket"), text(args, "key")
	found, err := c.objects.Client.GetObject(ctx, &awss3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return nil, fmt.Errorf("read s3://%s/%s: %w", bucket, key, err)
	}
	defer func() { _ = found.Body.Close() }()
	body, err := io.ReadAll(found.Body)
	if err != nil {
		return nil, fmt.Errorf("read s3://%s/%s: %w", bucket, key, err)
	}
	kind := aws.ToString(found.ContentType)
	if !strings.HasPrefix(kind, "text/") && !slices.Contains([]string{"application/json", "application/xml"}, kind) {
		body = nil
	}
	return resource.NewPropertyMapFromMap(map[string]any{
		"id": bucket + "/" + key, "bucket": bucket, "key": key, "contentType": kind, "body": string(body),
		"contentLength": float64(aws.ToInt64(found.ContentLength)),
	}), nil
}
