package localcloud

import (
	"context"
	"fmt"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/emr-observatory/emr-observatory/simulator"
)

type bucket struct {
	simulator.Recording
	*cloud
}

// Create implements simulator.Handler.
func (b bucket) Create(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	return apply(r, func(simulator.Result) error {
		name := text(r.Inputs, "bucket")
		if _, err := b.objects.Client.CreateBucket(ctx, &awss3.CreateBucketInput{Bucket: &name}); err != nil {
			return fmt.Errorf("create bucket %s: %w", name, err)
		}
		return nil
	})
}

// Read implements simulator.Handler.
func (b bucket) Read(ctx context.Context, r simulator.Request) (simulator.Result, bool, error) {
	exists, err := b.objects.Exists(ctx, r.ID, "")
	return unchangedResult(r), exists, err
}

// Delete implements simulator.Handler.
func (b bucket) Delete(ctx context.Context, r simulator.Request) error {
	if flag(r.Outputs, "forceDestroy") {
		if err := b.objects.Empty(ctx, r.ID); err != nil {
			return err
		}
	}
	if _, err := b.objects.Client.DeleteBucket(ctx, &awss3.DeleteBucketInput{Bucket: &r.ID}); err != nil {
		return fmt.Errorf("delete bucket %s: %w (only forceDestroy deletes a bucket that holds objects)", r.ID, err)
	}
	return nil
}

type object struct{ *cloud }

// Create implements simulator.Handler.
func (o object) Create(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	return apply(r, func(simulator.Result) error { return o.put(ctx, r) })
}

// Update implements simulator.Handler.
func (o object) Update(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	return o.Create(ctx, r)
}

func (o object) put(ctx context.Context, r simulator.Request) error {
	bucket, key := text(r.Inputs, "bucket"), text(r.Inputs, "key")
	content, source := text(r.Inputs, "content"), r.Inputs["source"]
	switch {
	case source.IsAsset() && source.AssetValue().IsPath():
		return o.objects.PutFile(ctx, bucket, key, source.AssetValue().Path)
	case source.IsAsset() && source.AssetValue().IsText():
		return o.objects.Put(ctx, bucket, key, []byte(source.AssetValue().Text))
	case content != "":
		return o.objects.Put(ctx, bucket, key, []byte(content))
	}
	return fmt.Errorf("put object %s: source or content must be set", key)
}

// Read implements simulator.Handler.
func (o object) Read(ctx context.Context, r simulator.Request) (simulator.Result, bool, error) {
	exists, err := o.objects.Exists(ctx, text(r.Outputs, "bucket"), text(r.Outputs, "key"))
	return unchangedResult(r), exists, err
}

// Delete implements simulator.Handler.
func (o object) Delete(ctx context.Context, r simulator.Request) error {
	bucket, key := text(r.Outputs, "bucket"), text(r.Outputs, "key")
	if _, err := o.objects.Client.DeleteObject(ctx, &awss3.DeleteObjectInput{Bucket: &bucket, Key: &key}); err != nil {
		return fmt.Errorf("delete object s3://%s/%s: %w", bucket, key, err)
	}
	return nil
}
