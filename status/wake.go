package status

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
)

// EndedWithoutStep returns the applications, by cluster, that ended within a time and that no step
// started: those of notebooks, of shells, and of spark-submit on a node.
func (s Source) EndedWithoutStep(ctx context.Context, within time.Duration) (map[string][]string, error) {
	window := seconds(within)
	found, err := s.query(ctx, fmt.Sprintf("(last_over_time(%s[%s]) == 1) and on (%s, %s) last_over_time(%s{%s=\"\"}[%s])",
		platform.MetricApplicationEnded, window, platform.Cluster.Metric(), platform.SparkAppID.Metric(), platform.MetricApplicationInfo,
		platform.ApplicationInfoStep, window))
	if err != nil {
		return nil, fmt.Errorf("read which applications without a step have ended: %w", err)
	}
	ended := map[string][]string{}
	for _, sample := range found {
		cluster, id := sample.label(platform.Cluster), sample.label(platform.SparkAppID)
		if platform.IsClusterID(cluster) && platform.IsYARNApplicationID(id) && !slices.Contains(ended[cluster], id) {
			ended[cluster] = append(ended[cluster], id)
		}
	}
	return ended, nil
}

// Wake asks the profiler to read a cluster of which applications have ended. It does nothing
// without a profiler. The password stays within the pod network.
func (s Source) Wake(ctx context.Context, wake serve.Wake) error {
	endpoint, configured := s.Config.Endpoints[platform.WorkloadProfiler]
	if !configured || s.Password == "" {
		return nil
	}
	body, err := json.Marshal(wake)
	if err != nil {
		return fmt.Errorf("wake the profiler: %w", err)
	}
	response, err := request(ctx, s.Client, requestTimeout, http.MethodPost, endpoint.URL+serve.WakePath, bytes.NewReader(body),
		func(r *http.Request) {
			r.SetBasicAuth(platform.StatusUser, s.Password)
			r.Header.Set("Content-Type", "application/json")
		})
	if err != nil {
		return fmt.Errorf("wake the profiler: %w", err)
	}
	return response.Close()
}
