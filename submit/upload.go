package submit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/emr-observatory/emr-observatory/platform"
)

// applicationFile is the application and its place in S3.
type applicationFile struct {
	path, key, uri string // path and key are empty for one given as an S3 URI
	size           int64
}

// applicationFile hashes the application, which names its key in S3.
func (o Options) applicationFile() (applicationFile, error) {
	if o.isInS3() {
		return applicationFile{uri: o.Application}, nil
	}
	file, err := os.Open(o.Application)
	if err != nil {
		return applicationFile{}, fmt.Errorf("read application: %w", err)
	}
	defer file.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, file)
	if err != nil {
		return applicationFile{}, fmt.Errorf("read application %s: %w", o.Application, err)
	}
	key := platform.ArtifactKey(hex.EncodeToString(hash.Sum(nil)), filepath.Base(o.Application))
	return applicationFile{path: o.Application, key: key, uri: "s3://" + o.Bucket + "/" + key, size: size}, nil
}

// upload puts the application under its content's hash, unless already uploaded.
func (c clients) upload(ctx context.Context, o Options, application applicationFile) error {
	if application.path == "" {
		return nil
	}
	head, err := c.s3.HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String(o.Bucket), Key: aws.String(application.key)})
	var absent *types.NotFound
	switch {
	case err == nil && aws.ToInt64(head.ContentLength) == application.size:
		o.say("%s already uploaded", application.uri)
		return nil
	case err != nil && !errors.As(err, &absent):
		return fmt.Errorf("look for %s: %w", application.uri, err)
	}
	file, err := os.Open(application.path)
	if err != nil {
		return fmt.Errorf("read application: %w", err)
	}
	defer file.Close()
	_, err = c.s3.PutObject(ctx, &s3.PutObjectInput{
		Bucket: aws.String(o.Bucket), Key: aws.String(application.key),
		Body: file, ContentLength: aws.Int64(application.size),
	})
	if err != nil {
		return fmt.Errorf("upload %s to %s: %w", application.path, application.uri, err)
	}
	o.say("uploaded %s (%d bytes)", application.uri, application.size)
	return nil
}
