package phases_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/emr-observatory/emr-observatory/localcloud/s3"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

const (
	region               = "us-east-1"
	accessKey, secretKey = "AKIAPHASES", "secret-of-the-test"
	storeAddress         = "127.0.0.1:7070"
	gatewayAddress       = "127.0.0.1:7071"
)

// store is a real S3 gateway behind a proxy that slows down what a test asks for.
type store struct {
	gateway *s3.Gateway

	mu    sync.Mutex
	speed map[string]speed // by bucket
}

// speed is how slowly a bucket answers: a store that takes its time, whoever asks.
type speed struct {
	bytesPerSecond int           // of all uploads together; 0: no limit
	latency        time.Duration // of a request that changes something
	throttled      int           // how many uploads are refused at first
}

func startStore(ctx context.Context, dir string) (*store, error) {
	binary, err := servers.Find(ctx, servers.VersityGW)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(dir + "/gateway.log")
	if err != nil {
		return nil, err
	}
	s := &store{speed: map[string]speed{}}
	if s.gateway, err = s3.Start(ctx, s3.Options{
		Binary: binary, Dir: dir + "/s3", Address: gatewayAddress, Region: region,
		AccessKey: accessKey, SecretKey: secretKey, Log: log,
	}); err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", storeAddress)
	if err != nil {
		return nil, err
	}
	target := &url.URL{Scheme: "http", Host: gatewayAddress}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // which is signed
	}}
	go func() { _ = http.Serve(listener, s.slowed(proxy)) }()
	return s, nil
}

func (s *store) endpoint() string { return "http://" + storeAddress }

// bucket creates a bucket of that speed.
func (s *store) bucket(ctx context.Context, name string, v speed) error {
	s.mu.Lock()
	s.speed[name] = v
	s.mu.Unlock()
	if _, err := s.gateway.Client.CreateBucket(ctx, &awss3.CreateBucketInput{Bucket: aws.String(name)}); err != nil {
		return fmt.Errorf("create bucket %s: %w", name, err)
	}
	return nil
}

// slowed serves requests at their bucket's speed.
func (s *store) slowed(next http.Handler) http.Handler {
	var shared sync.Map // limits by bucket
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bucket, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		s.mu.Lock()
		v := s.speed[bucket]
		throttle := r.Method == http.MethodPut && v.throttled > 0
		if throttle {
			v.throttled--
			s.speed[bucket] = v
		}
		s.mu.Unlock()
		if throttle {
			_, _ = io.Copy(io.Discard, r.Body) // or the client sees a broken connection
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead && v.latency > 0 {
			time.Sleep(v.latency)
		}
		if r.Method == http.MethodPut && v.bytesPerSecond > 0 {
			limit, _ := shared.LoadOrStore(bucket, &bandwidth{perSecond: v.bytesPerSecond})
			r.Body = limitedBody{r.Body, limit.(*bandwidth)}
		}
		next.ServeHTTP(w, r)
	})
}

// bandwidth lets that many bytes pass per second.
type bandwidth struct {
	perSecond int

	mu   sync.Mutex
	free time.Time // when the next byte may pass
}

func (l *bandwidth) wait(bytes int) {
	l.mu.Lock()
	now := time.Now()
	if l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(bytes) * time.Second / time.Duration(l.perSecond))
	until := l.free
	l.mu.Unlock()
	time.Sleep(time.Until(until))
}

// limitedBody is an upload at the limit's speed.
type limitedBody struct {
	io.ReadCloser
	limit *bandwidth
}

func (b limitedBody) Read(p []byte) (int, error) {
	const chunk = 16 << 10 // so that uploads share the limit
	n, err := b.ReadCloser.Read(p[:min(len(p), chunk)])
	b.limit.wait(n)
	return n, err
}
