// Package s3 is the local cloud's S3: a VersityGW process on a folder, a client
// of it, and what the aws:s3 resources do to it.
//
// Buckets and objects are real. Policies, encryption, versioning, lifecycle and
// access logs are recorded by the provider and not enforced here.
package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Gateway is the running gateway. The zero value cannot be used.
type Gateway struct {
	Address              string // host:port inside the region
	AccessKey, SecretKey string
	Client               *awss3.Client

	start func() (*exec.Cmd, error)
	mu    sync.Mutex
	cmd   *exec.Cmd     // the running process
	ended bool          // by Stop
	done  chan struct{} // closed when it runs no more
}

// Start runs the gateway on address with its objects under dir, and returns
// when it answers. binary is VersityGW's; log takes its output.
func Start(ctx context.Context, binary, dir, address, region, accessKey, secretKey string, log io.Writer) (*Gateway, error) {
	data, iam := filepath.Join(dir, "data"), filepath.Join(dir, "iam")
	for _, d := range []string{data, iam} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	g := &Gateway{Address: address, AccessKey: accessKey, SecretKey: secretKey, done: make(chan struct{})}
	g.start = func() (*exec.Cmd, error) {
		cmd := exec.Command(binary, "--port", address, "--region", region, "--iam-dir", iam, "posix", data) //nolint:gosec // our gateway
		cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+accessKey, "ROOT_SECRET_KEY="+secretKey)
		cmd.Stdout, cmd.Stderr = log, log
		return cmd, cmd.Start()
	}
	cmd, err := g.start()
	if err != nil {
		return nil, fmt.Errorf("start the S3 gateway: %w", err)
	}
	g.cmd = cmd
	go g.supervise(cmd)
	g.Client = awss3.New(awss3.Options{
		Region: region, UsePathStyle: true, BaseEndpoint: aws.String("http://" + address),
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
	})
	if err := g.ready(ctx); err != nil {
		g.Stop()
		return nil, err
	}
	return g, nil
}

func (g *Gateway) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", g.Address)
		if err == nil {
			conn.Close()
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the S3 gateway does not answer on %s (see the region's log): %w", g.Address, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// restartPause is between the gateway's end and its next start.
const restartPause = time.Second

// supervise starts the gateway again when it ends: S3 does not stay away.
func (g *Gateway) supervise(cmd *exec.Cmd) {
	defer close(g.done)
	for {
		if cmd != nil {
			_ = cmd.Wait()
		}
		g.mu.Lock()
		ended := g.ended
		g.mu.Unlock()
		if ended {
			return
		}
		time.Sleep(restartPause)
		g.mu.Lock()
		cmd = nil
		if !g.ended {
			if next, err := g.start(); err == nil {
				g.cmd, cmd = next, next
			}
		}
		g.mu.Unlock()
	}
}

// PID is the gateway's process, another one after each restart.
func (g *Gateway) PID() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cmd.Process.Pid
}

// Stop ends the gateway.
func (g *Gateway) Stop() {
	g.mu.Lock()
	g.ended = true
	_ = g.cmd.Process.Kill()
	g.mu.Unlock()
	<-g.done
}

// Endpoint is the gateway's URL.
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
		return err
	}
	defer f.Close()
	if _, err := g.Client.PutObject(ctx, &awss3.PutObjectInput{Bucket: &bucket, Key: &key, Body: f}); err != nil {
		return fmt.Errorf("write s3://%s/%s: %w", bucket, key, err)
	}
	return nil
}

// Get reads an object by its s3:// URI.
func (g *Gateway) Get(ctx context.Context, uri string) ([]byte, error) {
	bucket, key, err := Split(uri)
	if err != nil {
		return nil, err
	}
	out, err := g.Client.GetObject(ctx, &awss3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", uri, err)
	}
	defer out.Body.Close()
	return io.ReadAll(out.Body)
}

// Split takes an s3:// URI apart.
func Split(uri string) (bucket, key string, err error) {
	rest, ok := strings.CutPrefix(uri, "s3://")
	bucket, key, _ = strings.Cut(rest, "/")
	if !ok || bucket == "" {
		return "", "", fmt.Errorf("%q is not an s3://bucket/key URI", uri)
	}
	return bucket, key, nil
}

// Empty deletes every object and version of a bucket.
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

// Exists tells whether a bucket, or with a key an object, is there.
func (g *Gateway) Exists(ctx context.Context, bucket, key string) (bool, error) {
	var err error
	if key == "" {
		_, err = g.Client.HeadBucket(ctx, &awss3.HeadBucketInput{Bucket: &bucket})
	} else {
		_, err = g.Client.HeadObject(ctx, &awss3.HeadObjectInput{Bucket: &bucket, Key: &key})
	}
	var missing *types.NotFound
	var status interface{ HTTPStatusCode() int }
	if errors.As(err, &missing) || errors.As(err, &status) && status.HTTPStatusCode() == http.StatusNotFound {
		return false, nil
	}
	return err == nil, err
}
