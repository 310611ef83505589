// Package s3 is the local cloud's S3: a VersityGW process on a folder, and a
// client of it.
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

	"github.com/emr-observatory/emr-observatory/internal/poll"
)

// Options configure a gateway.
type Options struct {
	Binary               string // VersityGW
	Dir                  string // state: objects and accounts
	Address              string // host:port inside the region
	Region               string
	AccessKey, SecretKey string
	Log                  io.Writer // the process's output
}

// Gateway is a running gateway; Start makes it.
type Gateway struct {
	Options
	Client *awss3.Client

	mu      sync.Mutex
	cmd     *exec.Cmd     // the running process
	stopped bool          // Stop was called
	done    chan struct{} // closed once Stop has ended the last process
}

// Start runs a gateway and returns once it accepts connections.
func Start(ctx context.Context, o Options) (*Gateway, error) {
	for _, dir := range []string{o.dataDir(), o.accountsDir()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("start the S3 gateway: %w", err)
		}
	}
	g := &Gateway{Options: o, done: make(chan struct{})}
	cmd, err := g.startProcess()
	if err != nil {
		return nil, fmt.Errorf("start the S3 gateway: %w", err)
	}
	g.cmd = cmd
	go g.supervise(cmd)
	g.Client = awss3.New(awss3.Options{
		Region: o.Region, UsePathStyle: true, BaseEndpoint: aws.String(g.Endpoint()),
		Credentials: credentials.NewStaticCredentialsProvider(o.AccessKey, o.SecretKey, ""),
	})
	if err := g.awaitReady(ctx); err != nil {
		g.Stop()
		return nil, err
	}
	return g, nil
}

func (o Options) dataDir() string     { return filepath.Join(o.Dir, "data") }
func (o Options) accountsDir() string { return filepath.Join(o.Dir, "iam") }

func (g *Gateway) startProcess() (*exec.Cmd, error) {
	cmd := exec.Command(g.Binary, "--port", g.Address, "--region", g.Region, "--iam-dir", g.accountsDir(), "posix", g.dataDir())
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+g.AccessKey, "ROOT_SECRET_KEY="+g.SecretKey)
	cmd.Stdout, cmd.Stderr = g.Log, g.Log
	return cmd, cmd.Start()
}

// awaitReady waits until the gateway accepts connections.
func (g *Gateway) awaitReady(ctx context.Context) error {
	dialer := net.Dialer{Timeout: time.Second}
	err := poll.Until(ctx, poll.Options{Interval: 20 * time.Millisecond, Timeout: 30 * time.Second}, func(ctx context.Context) error {
		conn, err := dialer.DialContext(ctx, "tcp", g.Address)
		if err != nil {
			return err
		}
		return conn.Close()
	})
	if err != nil {
		return fmt.Errorf("S3 gateway on %s not ready %w; see the region's log", g.Address, err)
	}
	return nil
}

// restartPause is the pause between the gateway's exit and its restart.
const restartPause = time.Second

// supervise restarts the gateway whenever it exits, until Stop.
func (g *Gateway) supervise(cmd *exec.Cmd) {
	defer close(g.done)
	for {
		if cmd != nil {
			_ = cmd.Wait()
		}
		g.mu.Lock()
		stopped := g.stopped
		g.mu.Unlock()
		if stopped {
			return
		}
		time.Sleep(restartPause)
		g.mu.Lock()
		cmd = nil
		if !g.stopped {
			if next, err := g.startProcess(); err == nil {
				g.cmd, cmd = next, next
			}
		}
		g.mu.Unlock()
	}
}

// PID returns the gateway's process id; it changes with each restart.
func (g *Gateway) PID() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cmd.Process.Pid
}

// Stop kills the gateway.
func (g *Gateway) Stop() {
	g.mu.Lock()
	g.stopped = true
	_ = g.cmd.Process.Kill()
	g.mu.Unlock()
	<-g.done
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
	bucket, key, err := Split(uri)
	if err != nil {
		return nil, err
	}
	out, err := g.Client.GetObject(ctx, &awss3.GetObjectInput{Bucket: &bucket, Key: &key})
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
