package status

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	patience   = 3 * time.Second // for one answer; they are all on the same machine
	reasonSize = 200             // bytes of an answer that are told

	// fetchPatience is for a whole status: probes run together, the two
	// queries one after the other.
	fetchPatience = 3 * patience
)

// probe asks a workload whether it is ready.
func probe(ctx context.Context, name platform.Workload, endpoint Endpoint) Workload {
	body, err := get(ctx, patience, endpoint.ReadyURL)
	if err == nil {
		_ = body.Close() // only the status counts
		return Workload{Name: name, Ready: true}
	}
	return Workload{Name: name, Reason: err.Error()}
}

// get fetches a URL; an answer other than 2xx is an error with its first line.
// The caller closes the body.
func get(ctx context.Context, within time.Duration, url string) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("ask %s: %w", url, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		cancel()
		return nil, err // it names the method and the URL
	}
	if response.StatusCode/100 == 2 {
		return answer{response.Body, cancel}, nil
	}
	defer cancel()
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, reasonSize)) // the status is told either way
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return nil, fmt.Errorf("GET %s: %s: %s", url, response.Status, line)
}

// answer ends its request's time when it is closed.
type answer struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close closes the body.
func (a answer) Close() error {
	defer a.cancel()
	return a.ReadCloser.Close()
}

func compare[S ~string](a, b S) int { return cmp.Compare(a, b) }
