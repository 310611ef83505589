package status

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
)

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
