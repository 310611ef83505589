package workloadconfig_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	otlpresource "go.opentelemetry.io/proto/otlp/resource/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// sender is a node with an address of its own.
type sender struct {
	client *http.Client
	host   string
}

func newSender(t *testing.T, address, host string) sender {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	client := &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}, Timeout: testenv.Arrival.Scaled()}
	t.Cleanup(client.CloseIdleConnections)
	return sender{client, host}
}

// resource says, of each node, that it is of the quiet one's cluster.
func (n sender) resource() *otlpresource.Resource {
	return &otlpresource.Resource{Attributes: []*common.KeyValue{
		text("cluster", "j-QUIET"), text(string(platform.HostName), n.host), text(platform.AttributeSender, "127.0.0.12"),
		text(platform.AttributeSender, "127.0.0.12"), {Key: platform.AttributeSender},
	}}
}

func text(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
}

// post sends a request until the collector has accepted it, as an exporter does.
func (n sender) post(path string, message proto.Message) error {
	body, err := proto.Marshal(message)
	if err != nil {
		return err
	}
	target := fmt.Sprintf("http://127.0.0.1:%d%s", platform.OTLPHTTP, path)
	return testenv.Poll(context.Background(), testenv.Arrival, 100*time.Millisecond, func(context.Context) error {
		response, err := n.client.Post(target, "application/x-protobuf", bytes.NewReader(body))
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, response.Body)
		if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", path, response.Status)
		}
		return nil
	})
}

func (n sender) sendSeries(name string, from, to int) error {
	now := uint64(time.Now().UnixNano())
	var points []*metrics.NumberDataPoint
	for i := from; i < to; i++ {
		points = append(points, &metrics.NumberDataPoint{
			Attributes: []*common.KeyValue{text("number", strconv.Itoa(i))}, TimeUnixNano: now, Value: &metrics.NumberDataPoint_AsInt{AsInt: 1},
		})
	}
	return n.post("/v1/metrics", &metrics.MetricsData{ResourceMetrics: []*metrics.ResourceMetrics{{
		Resource: n.resource(), ScopeMetrics: []*metrics.ScopeMetrics{{Metrics: []*metrics.Metric{
			{Name: name, Data: &metrics.Metric_Gauge{Gauge: &metrics.Gauge{DataPoints: points}}},
		}}},
	}}})
}

func (n sender) sendLines(from, to, size int) error {
	now := uint64(time.Now().UnixNano())
	var records []*logs.LogRecord
	for i := from; i < to; i++ {
		line := fmt.Sprintf("%s line %d ", n.host, i)
		line += strings.Repeat("x", max(0, size-len(line)))
		records = append(records, &logs.LogRecord{TimeUnixNano: now, Body: text("", line).GetValue()})
	}
	return n.post("/v1/logs", &logs.LogsData{ResourceLogs: []*logs.ResourceLogs{{
		Resource: n.resource(), ScopeLogs: []*logs.ScopeLogs{{LogRecords: records}},
	}}})
}

// sendSpans sends spans, each thousand of which are a trace.
func (n sender) sendSpans(trace byte, from, to int) error {
	now := time.Now()
	var spans []*tracev1.Span
	for i := from; i < to; i++ {
		spans = append(spans, &tracev1.Span{
			TraceId: binary.BigEndian.AppendUint32(bytes.Repeat([]byte{trace}, 12), uint32(i/floodBatch)),
			SpanId:  binary.BigEndian.AppendUint32(bytes.Repeat([]byte{trace}, 4), uint32(i)), Name: fmt.Sprintf("span-%d", i),
			StartTimeUnixNano: uint64(now.Add(-time.Second).UnixNano()), EndTimeUnixNano: uint64(now.UnixNano()),
		})
	}
	return n.post("/v1/traces", &tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{
		Resource: n.resource(), ScopeSpans: []*tracev1.ScopeSpans{{Spans: spans}},
	}}})
}

// sendProfile returns the status of the relay's answer.
func (n sender) sendProfile(number int) (int, error) {
	until := time.Now().Unix()
	query := url.Values{
		"name": {fmt.Sprintf(`flood{cluster="j-QUIET",host_name=%q}`, n.host)}, "from": {strconv.FormatInt(until-10, 10)},
		"until": {strconv.FormatInt(until, 10)}, "format": {"groups"}, "sampleRate": {"100"},
	}
	target := fmt.Sprintf("http://127.0.0.1:%d%s?%s", platform.ProfileIntake, platform.ProfileIngestPath, query.Encode())
	response, err := n.client.Post(target, "text/plain", strings.NewReader(fmt.Sprintf("main;work%d 40\n", number)))
	if err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode, response.Body.Close()
}

// round sends one item of each signal, waits until all are stored, and returns how long that took.
func (n sender) round(number int) (time.Duration, error) {
	began := time.Now()
	status, err := n.sendProfile(number)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the profile's status is %d", status)
	}
	err = errors.Join(err, n.sendSeries(n.host, number, number+1), n.sendLines(number, number+1, 0), n.sendSpans(2, number, number+1))
	if err != nil {
		return 0, err
	}
	err = testenv.Poll(context.Background(), testenv.Arrival, 500*time.Millisecond, func(context.Context) error {
		if series, lines := seriesOf(n.host), linesWith(n.host+" line"); series != number+1 || lines != number+1 {
			return fmt.Errorf("round %d of %s: %d series and %d lines are stored", number, n.host, series, lines)
		}
		return nil
	})
	return time.Since(began), err
}
