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
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
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
// requests to one name the bucket in their path.
func Client(config aws.Config) *s3.Client {
	return s3.NewFromConfig(config, func(o *s3.Options) {
		o.UsePathStyle = o.UsePathStyle || o.BaseEndpoint != nil
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
	info := info{name: path.Base(name), size: aws.ToInt64(out.ContentLength), modified: aws.ToTime(out.LastModified)}
	return &object{bucket: b, key: name, version: out.ETag, body: out.Body, info: info}, nil
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
				entries = append(entries, fs.FileInfoToDirEntry(info{name: base, folder: true}))
			}
		}
		for _, found := range page.Contents {
			if base := strings.TrimPrefix(aws.ToString(found.Key), prefix); base != "" {
				info := info{name: base, size: aws.ToInt64(found.Size), modified: aws.ToTime(found.LastModified)}
				entries = append(entries, fs.FileInfoToDirEntry(info))
			}
		}
	}
	return entries, nil
}

type info struct {
	name     string
	size     int64
	modified time.Time
	folder   bool
}

func (i info) Name() string { return i.name }
func (i info) Size() int64  { return i.size }
func (i info) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}
func (i info) ModTime() time.Time { return i.modified }
func (i info) IsDir() bool        { return i.folder }
func (i info) Sys() any           { return nil }
