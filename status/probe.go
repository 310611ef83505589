package status

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	requestTimeout = 3 * time.Second // all workloads are on the same machine
	reasonSize     = 200             // maximum bytes of a response body in an error

	// fetchTimeout is for a whole status: probes run concurrently; three queries for
	// nodes, the requests for steps, and three queries for their applications and phases
	// run one after another.
	fetchTimeout = 7 * requestTimeout
)

// probe checks whether a workload is ready.
func (s Source) probe(ctx context.Context, name platform.Workload, endpoint Endpoint) Workload {
	body, err := get(ctx, s.Client, requestTimeout, endpoint.ReadyURL)
	if err == nil {
		_ = body.Close() // only the status counts
		return Workload{Name: name, Ready: true}
	}
	return Workload{Name: name, Reason: err.Error()}
}

// get fetches a URL, with edit's changes of the request. A status other than 2xx is
// an error with the first line of the body. The caller closes the body.
func get(
	ctx context.Context, client *http.Client, timeout time.Duration, url string, edit ...func(*http.Request),
) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("get %s: %w", url, err)
	}
	for _, change := range edit {
		change(request)
	}
	response, err := client.Do(request)
	if err != nil {
		cancel()
		return nil, err // it names the method and the URL
	}
	if response.StatusCode/100 == 2 {
		return bodyWithTimeout{response.Body, cancel}, nil
	}
	defer cancel()
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, reasonSize)) // the status is reported either way
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return nil, &refusal{url, response.StatusCode, line}
}

// Temporary reports whether an error of a Fetch function may not recur on a retry: the
// status page could not read one of its stores.
func Temporary(err error) bool {
	var refused *refusal
	return errors.As(err, &refused) && refused.status/100 == 5
}

// refusal is a response with a status other than 2xx.
type refusal struct {
	url    string
	status int
	reason string // first line of the body
}

// Error names the URL, the status and the reason.
func (r *refusal) Error() string {
	return fmt.Sprintf("GET %s: %d %s: %s", r.url, r.status, http.StatusText(r.status), r.reason)
}

// bodyWithTimeout is a response body that ends its request's timeout when it is
// closed.
type bodyWithTimeout struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close closes the body.
func (b bodyWithTimeout) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
