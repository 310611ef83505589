package lake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/emr-observatory/emr-observatory/phases/s3files"
)

// Bucket is a Store in an S3 bucket.
type Bucket struct {
	client *s3.Client
	name   string
}

// NewBucket returns a store in a bucket.
func NewBucket(config aws.Config, bucket string) *Bucket {
	return &Bucket{client: s3files.Client(config), name: bucket}
}

// Get opens an object.
func (b *Bucket) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	out, err := b.get(ctx, key)
	if err != nil {
		return nil, err
	}
	return out.Body, nil
}

func (b *Bucket) get(ctx context.Context, key string) (*s3.GetObjectOutput, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(b.name), Key: aws.String(key)})
	if err != nil {
		var missing *types.NoSuchKey
		if errors.As(err, &missing) {
			err = fs.ErrNotExist
		}
		return nil, fmt.Errorf("read s3://%s/%s: %w", b.name, key, err)
	}
	return out, nil
}

// Put writes an object.
func (b *Bucket) Put(ctx context.Context, key string, body io.ReadSeeker) error {
	return b.put(ctx, &s3.PutObjectInput{Bucket: aws.String(b.name), Key: aws.String(key), Body: body})
}

func (b *Bucket) put(ctx context.Context, in *s3.PutObjectInput) error {
	if _, err := b.client.PutObject(ctx, in); err != nil {
		return fmt.Errorf("write s3://%s/%s: %w", b.name, aws.ToString(in.Key), err)
	}
	return nil
}

// Swap writes only if the object still has the ETag of the content that it compared
// (https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html).
func (b *Bucket) Swap(ctx context.Context, key string, old, content []byte) error {
	in := &s3.PutObjectInput{Bucket: aws.String(b.name), Key: aws.String(key), Body: bytes.NewReader(content)}
	if old == nil {
		in.IfNoneMatch = aws.String("*")
	} else {
		out, err := b.get(ctx, key)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("replace s3://%s/%s: %w", b.name, key, ErrChanged)
		}
		if err != nil {
			return err
		}
		defer out.Body.Close()
		current, err := io.ReadAll(out.Body)
		if err != nil {
			return fmt.Errorf("read s3://%s/%s: %w", b.name, key, err)
		}
		if !bytes.Equal(old, current) {
			return fmt.Errorf("replace s3://%s/%s: %w", b.name, key, ErrChanged)
		}
		in.IfMatch = out.ETag
	}
	err := b.put(ctx, in)
	var refused smithy.APIError
	if errors.As(err, &refused) {
		switch refused.ErrorCode() {
		case "PreconditionFailed", "ConditionalRequestConflict", "NoSuchKey":
			return fmt.Errorf("replace s3://%s/%s: %w", b.name, key, ErrChanged)
		}
	}
	return err
}

// List pages through the keys.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: aws.String(b.name), Prefix: aws.String(prefix)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield("", fmt.Errorf("list s3://%s/%s: %w", b.name, prefix, err))
				return
			}
			for _, found := range page.Contents {
				if !yield(aws.ToString(found.Key), nil) {
					return
				}
			}
		}
	}
}

// Folders pages through the common prefixes.
func (b *Bucket) Folders(ctx context.Context, prefix string) ([]string, error) {
	var names []string
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{
		Bucket: aws.String(b.name), Prefix: aws.String(prefix), Delimiter: aws.String("/"),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list s3://%s/%s: %w", b.name, prefix, err)
		}
		for _, found := range page.CommonPrefixes {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(aws.ToString(found.Prefix), prefix), "/"))
		}
	}
	return names, nil
}

// Delete removes an object.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	if _, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String(b.name), Key: aws.String(key)}); err != nil {
		return fmt.Errorf("remove s3://%s/%s: %w", b.name, key, err)
	}
	return nil
}
