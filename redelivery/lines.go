package redelivery

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"

	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	// streamFields is the header with the resource attributes that identify
	// VictoriaLogs' streams.
	streamFields = "VL-Stream-Fields"

	// extraFields is the header with fields for each line of a request.
	extraFields = "VL-Extra-Fields"

	// ignoredFields is the header with fields that are not stored.
	ignoredFields = "VL-Ignore-Fields"

	// FieldDelivery is such a field: the id of the request that contained the line. It
	// identifies a request's lines, which their own fields do not: Spark's times are
	// whole seconds.
	FieldDelivery = "delivery"
)

// missingLines returns a request with those of r's lines that VictoriaLogs does
// not have, nil if it has all of them. Equal lines count: VictoriaLogs must have
// as many as r. A request that cannot be parsed is returned whole, so that
// VictoriaLogs reports what is wrong with it.
func (s *store) missingLines(ctx context.Context, r *request) (*request, error) {
	wanted, ok := s.parseLines(r)
	if !ok {
		return r, nil
	}
	fields := allFields(wanted, strings.Split(r.header.Get(streamFields), ","))
	stored := map[string]int{} // per line of r, how often it is stored
	from, to := time.Unix(1<<40, 0), time.Time{}
	filterLines(wanted, fields, func(at time.Time, line string) (keep bool) {
		stored[line] = 0
		if at.Before(from) {
			from = at
		}
		if at.After(to) {
			to = at
		}
		return true
	})
	if len(stored) == 0 {
		return nil, nil
	}
	if err := s.countStored(ctx, r, fields, from, to, stored); err != nil {
		return nil, err
	}
	missing := 0
	filterLines(wanted, fields, func(_ time.Time, line string) (keep bool) {
		if stored[line]--; stored[line] >= 0 {
			return false
		}
		missing++
		return true
	})
	if missing == 0 {
		return nil, nil
	}
	return withBody(r, wanted)
}

// parseLines decodes a request's log records.
func (s *store) parseLines(r *request) (*logs.LogsData, bool) {
	var lines logs.LogsData // an ExportLogsServiceRequest on the wire, without gRPC
	var malformed error
	err := s.packing.unpack(r.header, r.body, func(body []byte) { malformed = proto.Unmarshal(body, &lines) })
	return &lines, err == nil && malformed == nil
}

// allFields returns the stream's fields and those of the lines themselves.
func allFields(all *logs.LogsData, stream []string) []string {
	fields := stream
	for _, resource := range all.GetResourceLogs() {
		for _, scope := range resource.GetScopeLogs() {
			for _, r := range scope.GetLogRecords() {
				for _, a := range r.GetAttributes() {
					if !slices.Contains(fields, a.GetKey()) && a.GetKey() != platform.AttributeSender && stringValue(a.GetValue()) != "" {
						fields = append(fields, a.GetKey())
					}
				}
			}
		}
	}
	return fields
}

// filterLines calls keep with the time and the identity of each line, and removes
// the line if it returns false.
func filterLines(all *logs.LogsData, fields []string, keep func(at time.Time, line string) bool) {
	for _, resource := range all.GetResourceLogs() {
		for _, scope := range resource.GetScopeLogs() {
			scope.LogRecords = slices.DeleteFunc(scope.GetLogRecords(), func(r *logs.LogRecord) bool {
				at := time.Unix(0, int64(cmp.Or(r.GetTimeUnixNano(), r.GetObservedTimeUnixNano())))
				values := map[string]string{}
				for _, a := range slices.Concat(resource.GetResource().GetAttributes(), r.GetAttributes()) {
					values[a.GetKey()] = stringValue(a.GetValue())
				}
				return !keep(at, lineIdentity(at, stringValue(r.GetBody()), fields, values))
			})
		}
	}
}

// lineIdentity returns a string that is equal for equal lines.
func lineIdentity(at time.Time, message string, fields []string, values map[string]string) string {
	var line strings.Builder
	line.WriteString(at.UTC().Format(time.RFC3339Nano))
	for _, f := range fields {
		line.WriteString("\x00" + values[f])
	}
	return line.String() + "\x00" + message
}

// stringValue returns a string value, which VictoriaLogs stores as it is. It returns ""
// for other types, so a line with one counts as missing.
func stringValue(v *common.AnyValue) string { return v.GetStringValue() }

// countStored adds to stored how often VictoriaLogs has each line of r, between
// two times.
func (s *store) countStored(ctx context.Context, r *request, fields []string, from, to time.Time, stored map[string]int) error {
	// Flush: recent rows are otherwise invisible for about 1 s.
	if err := s.get(ctx, "/internal/force_flush", func(io.Reader) error { return nil }); err != nil {
		return err
	}
	// With _stream in the query, a line is returned only if its stream is known: a
	// killed VictoriaLogs may have the line and not yet its stream (lib/logstorage,
	// block_result.go, initColumnsByFields).
	columns := append([]string{"_time", "_msg", "_stream"}, fields...)
	for i, f := range columns {
		columns[i] = strconv.Quote(f)
	}
	const nanos = "2006-01-02T15:04:05.000000000Z"
	query := fmt.Sprintf("_time:[%s, %s] %s:=%q | fields %s", from.UTC().Format(nanos), to.UTC().Format(nanos),
		FieldDelivery, r.id, strings.Join(columns, ", "))
	return s.get(ctx, "/select/logsql/query?"+url.Values{"query": {query}}.Encode(), func(answer io.Reader) error {
		for rows := json.NewDecoder(answer); ; {
			row := map[string]string{}
			if err := rows.Decode(&row); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			at, err := time.Parse(time.RFC3339Nano, row["_time"])
			if err != nil {
				return err
			}
			line := lineIdentity(at, row["_msg"], fields, row)
			if _, wanted := stored[line]; wanted {
				stored[line]++
			}
		}
	})
}

// get sends a GET request to the store and passes the body to read.
func (s *store) get(ctx context.Context, path string, read func(io.Reader) error) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return fmt.Errorf("query %s: %w", s.name, err)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return fmt.Errorf("query %s: %w", s.name, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		answer, _ := io.ReadAll(io.LimitReader(response.Body, 200))
		return fmt.Errorf("query %s: %s: %q", s.name, response.Status, answer)
	}
	if err := read(response.Body); err != nil {
		return fmt.Errorf("read the response of %s: %w", s.name, err)
	}
	return nil
}

// withBody returns r with another body.
func withBody(r *request, body *logs.LogsData) (*request, error) {
	b, err := proto.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode lines: %w", err)
	}
	changed := &request{path: r.path, header: r.header.Clone(), body: b}
	changed.header.Del("Content-Encoding")
	return changed, nil
}
