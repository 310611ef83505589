package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// client sends requests to one store.
type client struct {
	base string
	http *http.Client
}

// maxResponse bounds a response body; the largest flame graph is far smaller.
const maxResponse = 64 << 20

// maxMessage is how many bytes of a store's error text a result keeps.
const maxMessage = 400

func (c client) get(ctx context.Context, path string, params url.Values) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(c.base, "/")+path+"?"+params.Encode(), nil)
	if err != nil {
		return nil, fmt.Errorf("request %s: %w", path, err)
	}
	request.Header.Set("Accept", "application/json")
	return c.do(request)
}

func (c client) postForm(ctx context.Context, path string, params url.Values) ([]byte, error) {
	return c.post(ctx, path, "application/x-www-form-urlencoded", []byte(params.Encode()))
}

func (c client) post(ctx context.Context, path, contentType string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(c.base, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("request %s: %w", path, err)
	}
	request.Header.Set("Content-Type", contentType)
	return c.do(request)
}

func (c client) do(request *http.Request) ([]byte, error) {
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("request %s: %w", request.URL.Path, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return nil, fmt.Errorf("read response of %s: %w", request.URL.Path, err)
	}
	if response.StatusCode != http.StatusOK {
		message := strings.TrimSpace(string(body))
		if len(message) > maxMessage {
			message = message[:maxMessage] + "…"
		}
		return nil, fmt.Errorf("%s returned %s: %s", request.URL.Path, response.Status, message)
	}
	return body, nil
}

func decode(body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("decode response: %w", err)
	}
	return nil
}

// promResponse is a response of Prometheus' query API.
type promResponse struct {
	Status    string `json:"status"`
	Error     string `json:"error"`
	IsPartial bool   `json:"isPartial"`
	Data      struct {
		Result []struct {
			Metric map[string]string `json:"metric"`
			Value  promPoint         `json:"value"`
			Values []promPoint       `json:"values"`
		} `json:"result"`
	} `json:"data"`
}

// promPoint is [seconds, "value"].
type promPoint struct {
	at    time.Time
	value string
}

// UnmarshalJSON reads the pair.
func (p *promPoint) UnmarshalJSON(raw []byte) error {
	var seconds float64
	if err := json.Unmarshal(raw, &[]any{&seconds, &p.value}); err != nil {
		return fmt.Errorf("read point %s: %w", raw, err)
	}
	p.at = time.UnixMilli(int64(seconds * float64(time.Second/time.Millisecond)))
	return nil
}

func (p promPoint) isNumber() bool { return p.value != "" && p.value != "NaN" }

// points counts the numbers at or after since, and the series that have any.
func (a promResponse) points(since time.Time) finding {
	var found finding
	for _, series := range a.Data.Result {
		count := 0
		for _, point := range append(series.Values, series.Value) {
			if point.isNumber() && !point.at.Before(since) {
				count++
				found.add(point.value)
			}
		}
		if count > 0 {
			found.series++
			found.samples += count
		}
	}
	return found
}

func (a promResponse) err() error {
	if a.Status != "success" {
		return fmt.Errorf("the store returned status %q: %s", a.Status, a.Error)
	}
	if a.IsPartial {
		return errors.New("the store's response is partial")
	}
	return nil
}
