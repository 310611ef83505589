// Package s3files shows a bucket as a read-only file system, so that a reader of event
// logs need not know where they are. A name is an object's key; a folder is what keys
// with that prefix have in common.
//
// An object is streamed. A connection that breaks ends the reading with an error.
package s3files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/emr-observatory/emr-observatory/eventlog/remotefile"
)

// Bucket is an fs.FS of a bucket's objects. Its context ends every request, since the
// methods of fs.FS take none.
type Bucket struct {
	ctx    context.Context
	client *s3.Client
	name   string
}

// New returns the files of a bucket.
func New(ctx context.Context, config aws.Config, bucket string) *Bucket {
	return &Bucket{ctx: ctx, client: Client(config), name: bucket}
}

// Client returns a client of S3. A custom endpoint has no host name per bucket, so
// requests to one name the bucket in their path. Idle connections are kept up to the transport's total,
// 100: the SDK's own limit is ten a host, beyond which requests that run at a time dial again.
func Client(config aws.Config) *s3.Client {
	return s3.NewFromConfig(config, func(o *s3.Options) {
		o.UsePathStyle = o.UsePathStyle || o.BaseEndpoint != nil
		if buildable, ok := o.HTTPClient.(*awshttp.BuildableClient); ok {
			o.HTTPClient = buildable.WithTransportOptions(func(t *http.Transport) { t.MaxIdleConnsPerHost = t.MaxIdleConns })
		}
	})
}

// Split divides s3://bucket/key, also with the schemes of Hadoop's file systems. It
// reports false for other texts.
func Split(uri string) (bucket, key string, ok bool) {
	for _, scheme := range []string{"s3://", "s3a://", "s3n://"} {
		if rest, found := strings.CutPrefix(uri, scheme); found {
			bucket, key, _ = strings.Cut(rest, "/")
			key = strings.Trim(key, "/")
			return bucket, key, bucket != "" && key != ""
		}
	}
	return "", "", false
}

// Open reads an object.
func (b *Bucket) Open(name string) (fs.File, error) {
	out, err := b.client.GetObject(b.ctx, &s3.GetObjectInput{Bucket: aws.String(b.name), Key: aws.String(name)})
	if err != nil {
		var missing *types.NoSuchKey
		switch {
		case errors.As(err, &missing):
			err = fs.ErrNotExist
		case isDenied(err):
			err = fmt.Errorf("%w: %w", fs.ErrPermission, err)
		}
		return nil, fmt.Errorf("read s3://%s/%s: %w", b.name, name, err)
	}
	info := remotefile.Info{Base: path.Base(name), Bytes: aws.ToInt64(out.ContentLength), Time: aws.ToTime(out.LastModified)}
	return remotefile.New("s3://"+b.name+"/"+name, info, out.Body, func(off int64) (io.ReadCloser, error) {
		rest, err := b.client.GetObject(b.ctx, &s3.GetObjectInput{
			Bucket: aws.String(b.name), Key: aws.String(name), IfMatch: out.ETag, Range: aws.String(fmt.Sprintf("bytes=%d-", off)),
		})
		if err != nil {
			return nil, err // the file names the operation
		}
		return rest.Body, nil
	}), nil
}

// isDenied reports whether S3 refuses this object, while it may return others: for lack of a
// permission, or because the object is archived (S3 API Reference, "Error responses").
func isDenied(err error) bool {
	var answer smithy.APIError
	return errors.As(err, &answer) && (answer.ErrorCode() == "AccessDenied" || answer.ErrorCode() == "InvalidObjectState")
}

// ReadDir lists the objects of a folder, and the folders in it. The bucket is ".".
func (b *Bucket) ReadDir(name string) ([]fs.DirEntry, error) {
	var entries []fs.DirEntry
	prefix := name + "/"
	if name == "." {
		prefix = ""
	}
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{
		Bucket: aws.String(b.name), Prefix: aws.String(prefix), Delimiter: aws.String("/"),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(b.ctx)
		if err != nil {
			return nil, fmt.Errorf("list s3://%s/%s: %w", b.name, prefix, err)
		}
		for _, found := range page.CommonPrefixes {
			base := strings.TrimSuffix(strings.TrimPrefix(aws.ToString(found.Prefix), prefix), "/")
			if fs.ValidPath(base) && !strings.Contains(base, "/") {
				entries = append(entries, fs.FileInfoToDirEntry(remotefile.Info{Base: base, Folder: true}))
			}
		}
		for _, found := range page.Contents {
			if base := strings.TrimPrefix(aws.ToString(found.Key), prefix); base != "" {
				info := remotefile.Info{Base: base, Bytes: aws.ToInt64(found.Size), Time: aws.ToTime(found.LastModified)}
				entries = append(entries, fs.FileInfoToDirEntry(info))
			}
		}
	}
	return entries, nil
}
