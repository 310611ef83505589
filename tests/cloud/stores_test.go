package cloud_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// get reads a service's page into v; with nil it only requires success.
func (c *cloud) get(t *testing.T, service, path string, v any) {
	t.Helper()
	require.NoError(t, c.tryGet(t, service, path, v))
}

// tryGet is like get, for requests that may fail.
func (c *cloud) tryGet(t *testing.T, service, path string, v any) error {
	return c.send(t, http.MethodGet, service, path, nil, v)
}

// send sends a request to one of the cloud's services.
func (c *cloud) send(t *testing.T, method, service, path string, body io.Reader, v any) error {
	return send(t.Context(), method, c.running(t).URL(service)+path, body, v)
}

// send sends a request and reads the response into v, unless that is nil.
func send(ctx context.Context, method, url string, body io.Reader, v any) error {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %.300s", method, url, res.Status, raw)
	}
	switch v := v.(type) {
	case nil:
		return nil
	case *[]byte: // not JSON, or several JSON values
		*v = raw
		return nil
	default:
		return json.Unmarshal(raw, v)
	}
}

// sample is one series of an instant query's result.
type sample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"`
}

// number returns the sample's value.
func (s sample) number(t *testing.T) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(fmt.Sprint(s.Value[1]), 64)
	require.NoError(t, err)
	return f
}

// query runs an instant query on VictoriaMetrics.
func (c *cloud) query(t *testing.T, expr string) []sample {
	t.Helper()
	samples, err := c.tryQuery(t.Context(), t, expr)
	require.NoError(t, err)
	return samples
}

// tryQuery is like query, for a store that may not answer. It sees the newest samples,
// too, which VictoriaMetrics hides for 30 seconds.
func (c *cloud) tryQuery(ctx context.Context, t *testing.T, expr string) ([]sample, error) {
	t.Helper()
	var answer struct {
		Data struct {
			Result []sample `json:"result"`
		} `json:"data"`
	}
	query := url.Values{"query": {expr}, "latency_offset": {"1ms"}}
	err := send(ctx, http.MethodGet, c.running(t).URL("victoria-metrics")+"/api/v1/query?"+query.Encode(), nil, &answer)
	return answer.Data.Result, err
}
