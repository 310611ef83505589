// Package s3 is the local cloud's S3: a VersityGW process on a folder, another one
// that knows the account's roles and what their policies allow, and clients of both.
//
// Buckets and objects are real, and so is what a role may do with them. Bucket
// policies, encryption, versioning, lifecycle and access logs are recorded by the
// provider and not enforced here.
package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"k8s.io/utils/clock"
)

// Options configure a gateway.
type Options struct {
	Binary               string // VersityGW
	Dir                  string // state: objects and accounts
	Address              string // host:port inside the region
	Region               string
	AccessKey, SecretKey string
	Log                  io.Writer // the process's output
	// Clock measures how old an instance profile is; nil = the real one.
	Clock clock.PassiveClock
}

// Gateway is a running gateway; Start makes it.
type Gateway struct {
	Options
	Client *awss3.Client // with the account's root key, which may do everything
	Roles  *Roles        // whose keys may do what their policies allow

	process *process
}

// Start runs a gateway and returns once it accepts connections.
func Start(ctx context.Context, o Options) (*Gateway, error) {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	for _, dir := range []string{o.dataDir(), o.accountsDir()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("start the S3 gateway: %w", err)
		}
	}
	roles, err := startRoles(ctx, o) // first: the gateway asks for it at its start
	if err != nil {
		return nil, fmt.Errorf("start the S3 gateway: %w", err)
	}
	g := &Gateway{Options: o, Roles: roles}
	if g.process, err = supervise(g.startProcess); err != nil {
		roles.process.stop()
		return nil, fmt.Errorf("start the S3 gateway: %w", err)
	}
	g.Client = g.clientOf(Key{o.AccessKey, o.SecretKey})
	if err := awaitListener(ctx, "tcp", g.Address); err != nil {
		g.Stop()
		return nil, fmt.Errorf("S3 gateway on %s not ready %w; see the region's log", g.Address, err)
	}
	return g, nil
}

func (g *Gateway) clientOf(k Key) *awss3.Client {
	return awss3.New(awss3.Options{
		Region: g.Region, UsePathStyle: true, BaseEndpoint: aws.String(g.Endpoint()),
		Credentials: credentials.NewStaticCredentialsProvider(k.ID, k.Secret, ""),
	})
}

// ClientOf returns a client with a role's key.
func (g *Gateway) ClientOf(ctx context.Context, role string) (*awss3.Client, error) {
	k, err := g.Roles.Key(ctx, role)
	if err != nil {
		return nil, err // it names the role
	}
	return g.clientOf(k), nil
}

func (o Options) dataDir() string     { return filepath.Join(o.Dir, "data") }
func (o Options) accountsDir() string { return filepath.Join(o.Dir, "iam") }

func (g *Gateway) startProcess() (*exec.Cmd, error) {
	cmd := exec.Command(g.Binary, "--port", g.Address, "--region", g.Region,
		"--iam-standalone-endpoint", g.socket("policies"), "posix", g.dataDir())
	cmd.Env = g.environment()
	cmd.Stdout, cmd.Stderr = g.Log, g.Log
	return cmd, cmd.Start()
}

// PID returns the gateway's process id; it changes with each restart.
func (g *Gateway) PID() int { return g.process.pid() }

// Stop kills the gateway.
func (g *Gateway) Stop() {
	g.process.stop()
	g.Roles.process.stop()
}

// Endpoint returns the gateway's URL.
func (g *Gateway) Endpoint() string { return "http://" + g.Address }

// Put writes an object.
func (g *Gateway) Put(ctx context.Context, bucket, key string, body []byte) error {
	_, err := g.Client.PutObject(ctx, &awss3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(body)})
	if err != nil {
		return fmt.Errorf("write s3://%s/%s: %w", bucket, key, err)
	}
	return nil
}

// PutFile writes an object from a file.
func (g *Gateway) PutFile(ctx context.Context, bucket, key, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("write s3://%s/%s: %w", bucket, key, err)
	}
	defer f.Close()
	if _, err := g.Client.PutObject(ctx, &awss3.PutObjectInput{Bucket: &bucket, Key: &key, Body: f}); err != nil {
		return fmt.Errorf("write s3://%s/%s: %w", bucket, key, err)
	}
	return nil
}

// Get reads an object by its s3:// URI.
func (g *Gateway) Get(ctx context.Context, uri string) ([]byte, error) {
	return get(ctx, g.Client, uri)
}

// GetAs is like Get, with a role's key.
func (g *Gateway) GetAs(ctx context.Context, k Key, uri string) ([]byte, error) {
	return get(ctx, g.clientOf(k), uri)
}

func get(ctx context.Context, client *awss3.Client, uri string) ([]byte, error) {
	bucket, key, err := Split(uri)
	if err != nil {
		return nil, err
	}
	out, err := client.GetObject(ctx, &awss3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", uri, err)
	}
	defer out.Body.Close()
	body, err := io.ReadAll(out.Body)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", uri, err)
	}
	return body, nil
}

// Split separates an s3:// URI into bucket and key.
func Split(uri string) (bucket, key string, err error) {
	rest, ok := strings.CutPrefix(uri, "s3://")
	bucket, key, _ = strings.Cut(rest, "/")
	if !ok || bucket == "" {
		return "", "", fmt.Errorf("%q is not an s3://bucket/key URI", uri)
	}
	return bucket, key, nil
}

// Empty deletes every object of a bucket.
func (g *Gateway) Empty(ctx context.Context, bucket string) error {
	pages := awss3.NewListObjectsV2Paginator(g.Client, &awss3.ListObjectsV2Input{Bucket: &bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list s3://%s: %w", bucket, err)
		}
		for _, o := range page.Contents {
			if _, err := g.Client.DeleteObject(ctx, &awss3.DeleteObjectInput{Bucket: &bucket, Key: o.Key}); err != nil {
				return fmt.Errorf("delete s3://%s/%s: %w", bucket, *o.Key, err)
			}
		}
	}
	return nil
}

// Exists reports whether an object exists, or the bucket if key is empty.
func (g *Gateway) Exists(ctx context.Context, bucket, key string) (bool, error) {
	var err error
	if key == "" {
		_, err = g.Client.HeadBucket(ctx, &awss3.HeadBucketInput{Bucket: &bucket})
	} else {
		_, err = g.Client.HeadObject(ctx, &awss3.HeadObjectInput{Bucket: &bucket, Key: &key})
	}
	var missing *types.NotFound
	var status interface{ HTTPStatusCode() int }
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &missing), errors.As(err, &status) && status.HTTPStatusCode() == http.StatusNotFound:
		return false, nil
	}
	return false, fmt.Errorf("look up s3://%s/%s: %w", bucket, key, err)
}
