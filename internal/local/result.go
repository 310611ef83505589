package local

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/submit"
)

// Result is what Up returns, and `up --json` prints.
type Result struct {
	Stack    string            `json:"stack"`
	Clusters map[string]string `json:"clusters"` // j-… by key
	Bucket   string            `json:"bucket"`
	Job      *submit.Result    `json:"job,omitempty"` // left out without a job
	Objects  map[string]int    `json:"objects"`       // by S3 path
	URLs     map[string]string `json:"urls"`          // by service

	// Profile is the file with the profile localcloud.Profile, by which AWS clients get the key
	// pair that S3 and the EMR API ask for.
	Profile string `json:"profile"`

	Seconds map[string]float64 `json:"seconds"` // by part: materials, cloud, guard, stack, job
}

func (r *Result) addSeconds(part string, start time.Time) {
	r.Seconds[part] = time.Since(start).Seconds()
}

// grafanaTimeout bounds the question whether Grafana is ready.
const grafanaTimeout = 5 * time.Second

// Service is something that a person may look at in a browser.
type Service struct{ Name, Title, Path string }

// Services lists the local cloud's web pages and APIs, Grafana only if it runs.
// The status page, which leads to the others, is the first.
func Services(grafana bool) []Service {
	cluster := []Service{{emr.ResourceManager, "YARN ResourceManager", ""}, {emr.SparkHistory, "Spark history", ""}}
	var first, rest []Service
	for _, w := range platform.Workloads() {
		service := Service{string(w.Name), w.Page.Title, w.Page.Path}
		switch {
		case w.Page.Path == "" || w.Name == platform.WorkloadGrafana && !grafana:
		case w.Name == platform.WorkloadStatus:
			first = append(first, service)
		default:
			rest = append(rest, service)
		}
	}
	return slices.Concat(first, cluster, rest, []Service{{localcloud.ServiceS3, "S3", ""}, {localcloud.ServiceEMR, "EMR API", ""}})
}

// GrafanaRuns asks the Grafana of a local cloud whether it is ready. What stands in for it knows no such page.
func GrafanaRuns(ctx context.Context, running localcloud.Running) bool {
	record, err := platform.Workloads().Get(platform.WorkloadGrafana)
	if err != nil {
		return false
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, running.URL(string(record.Name))+record.Ready.Path, nil)
	if err != nil {
		return false
	}
	response, err := (&http.Client{Timeout: grafanaTimeout}).Do(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

// addOverview adds the cluster, the bucket with its number of objects by prefix,
// and the URLs to the result.
func (s *session) addOverview(ctx context.Context, r *Result) error {
	bucket := s.outputs.DataBucket
	r.Clusters, r.Bucket = map[string]string{}, bucket
	for _, key := range s.outputs.Running() {
		r.Clusters[key] = s.outputs.Clusters[key].ID
	}
	r.URLs = map[string]string{}
	for _, service := range Services(GrafanaRuns(ctx, s.running)) {
		r.URLs[service.Name] = s.running.URL(service.Name) + service.Path
	}
	r.Objects = map[string]int{}
	client := s3.NewFromConfig(s.aws, func(o *s3.Options) { o.UsePathStyle = true })
	for _, prefix := range platform.Prefixes() {
		uri := prefix.URI(bucket)
		pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: aws.String(string(prefix))})
		r.Objects[uri] = 0
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return fmt.Errorf("list %s: %w", uri, err)
			}
			r.Objects[uri] += len(page.Contents)
		}
	}
	return nil
}
