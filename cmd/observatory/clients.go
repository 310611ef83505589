package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/platform"
)

// awsConfig is the SDK's ordinary configuration: the process's environment
// decides whether that is AWS or the local cloud.
func awsConfig(ctx context.Context) (aws.Config, error) {
	cfg, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return cfg, fmt.Errorf("AWS configuration: %w", err)
	}
	return cfg, nil
}

// local points this process's AWS clients at the local cloud, if it runs.
// Without one the ambient AWS configuration stays.
func local(s *settings) (localcloud.Running, bool, error) {
	state, err := s.stateDir()
	if err != nil {
		return localcloud.Running{}, false, err
	}
	running, err := localcloud.Find(state)
	if errors.Is(err, localcloud.ErrDown) {
		return running, false, nil
	}
	if err != nil {
		return running, false, err
	}
	credentials, err := localcloud.LoadCredentials(state)
	if err != nil {
		return running, false, err
	}
	return running, true, setenv(running.Environment(credentials))
}

// objectCounts counts the objects under each prefix of the data bucket.
func objectCounts(ctx context.Context, bucket string) (map[platform.Prefix]int, error) {
	cfg, err := awsConfig(ctx)
	if err != nil {
		return nil, err
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	counts := map[platform.Prefix]int{}
	for _, prefix := range platform.Prefixes() {
		pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: aws.String(string(prefix))})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, fmt.Errorf("list s3://%s/%s: %w", bucket, prefix, err)
			}
			counts[prefix] += len(page.Contents)
		}
	}
	return counts, nil
}

// lines gives a writer whose lines become lines of progress.
func (p *progress) lines() io.Writer { return &lineWriter{p: p} }

type lineWriter struct {
	p    *progress
	rest string
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.rest += string(b)
	for {
		line, rest, ok := strings.Cut(w.rest, "\n")
		if !ok {
			return len(b), nil
		}
		w.rest = rest
		if line = strings.TrimRight(line, "\r "); line != "" {
			w.p.say("%s", line)
		}
	}
}
