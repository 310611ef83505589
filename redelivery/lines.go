package redelivery

import (
	"bytes"
	"compress/gzip"
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
)

const (
	// streamFields names in a request the resource attributes that tell
	// VictoriaLogs' streams apart.
	streamFields = "VL-Stream-Fields"

	// extraFields are given to each line of a request.
	extraFields = "VL-Extra-Fields"

	// FieldDelivery is one of them: by it the store's lines of one request are
	// found. Their own fields do not tell them from other requests': Spark's times
	// are whole seconds.
	FieldDelivery = "delivery"
)

// linesLacking gives a request of those of r's lines that VictoriaLogs does not
// have, nil if it has all of them. Of lines with one time, text and fields so
// many are wanted as r has. A request that cannot be read is given back whole:
// VictoriaLogs shall say what is wrong with it.
func (s *store) linesLacking(ctx context.Context, r *request) (*request, error) {
	var wanted logs.LogsData // as an ExportLogsServiceRequest on the wire, without gRPC
	body, err := plain(r)
	if err != nil || proto.Unmarshal(body, &wanted) != nil {
		return r, nil //nolint:nilerr // see above
	}
	fields := fieldsOf(&wanted, strings.Split(r.header.Get(streamFields), ","))
	there := map[string]int{} // of each wanted line, how often it is there
	from, to := time.Unix(1<<40, 0), time.Time{}
	eachLine(&wanted, fields, func(at time.Time, line string) (remove bool) {
		there[line] = 0
		if at.Before(from) {
			from = at
		}
		if at.After(to) {
			to = at
		}
		return false
	})
	if len(there) == 0 {
		return nil, nil
	}
	if err := s.count(ctx, r, fields, from, to, there); err != nil {
		return nil, err
	}
	lacking := 0
	eachLine(&wanted, fields, func(_ time.Time, line string) (remove bool) {
		if there[line]--; there[line] >= 0 {
			return true
		}
		lacking++
		return false
	})
	if lacking == 0 {
		return nil, nil
	}
	return packed(r, &wanted)
}

// fieldsOf adds to a stream's fields those that the lines themselves have.
func fieldsOf(all *logs.LogsData, stream []string) []string {
	fields := stream
	for _, resource := range all.GetResourceLogs() {
		for _, scope := range resource.GetScopeLogs() {
			for _, r := range scope.GetLogRecords() {
				for _, a := range r.GetAttributes() {
					if !slices.Contains(fields, a.GetKey()) && text(a.GetValue()) != "" {
						fields = append(fields, a.GetKey())
					}
				}
			}
		}
	}
	return fields
}

// eachLine calls do with the time and the identity of each line, and takes out
// those of which it says so.
func eachLine(all *logs.LogsData, fields []string, do func(at time.Time, line string) (remove bool)) {
	for _, resource := range all.GetResourceLogs() {
		for _, scope := range resource.GetScopeLogs() {
			scope.LogRecords = slices.DeleteFunc(scope.GetLogRecords(), func(r *logs.LogRecord) bool {
				nanos := r.GetTimeUnixNano()
				if nanos == 0 {
					nanos = r.GetObservedTimeUnixNano()
				}
				at := time.Unix(0, int64(nanos)) //nolint:gosec // OTLP's times end in 2554
				values := map[string]string{}
				for _, a := range slices.Concat(resource.GetResource().GetAttributes(), r.GetAttributes()) {
					values[a.GetKey()] = text(a.GetValue())
				}
				return do(at, identity(at, text(r.GetBody()), fields, values))
			})
		}
	}
}

func identity(at time.Time, message string, fields []string, values map[string]string) string {
	var line strings.Builder
	line.WriteString(at.UTC().Format(time.RFC3339Nano))
	for _, f := range fields {
		line.WriteString("\x00" + values[f])
	}
	return line.String() + "\x00" + message
}

// text is a value as VictoriaLogs stores it; of what is not text nothing is
// known, and a line of it counts as one that is not there.
func text(v *common.AnyValue) string { return v.GetStringValue() }

// count adds up how often VictoriaLogs has each line of r that there names,
// between two times.
func (s *store) count(ctx context.Context, r *request, fields []string, from, to time.Time, there map[string]int) error {
	// What it took a moment ago is otherwise seen only a second later.
	if err := s.get(ctx, "/internal/force_flush", func(io.Reader) error { return nil }); err != nil {
		return err
	}
	// Asked for its stream, a line is given only if that can be found: a killed
	// VictoriaLogs may have a line and not yet its stream (lib/logstorage,
	// block_result.go, initColumnsByFields).
	wanted := append([]string{"_time", "_msg", "_stream"}, fields...)
	for i, f := range wanted {
		wanted[i] = strconv.Quote(f)
	}
	const nanos = "2006-01-02T15:04:05.000000000Z"
	query := fmt.Sprintf("_time:[%s, %s] %s:=%q | fields %s", from.UTC().Format(nanos), to.UTC().Format(nanos),
		FieldDelivery, r.id, strings.Join(wanted, ", "))
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
			line := identity(at, row["_msg"], fields, row)
			if _, wanted := there[line]; wanted {
				there[line]++
			}
		}
	})
}

func (s *store) get(ctx context.Context, path string, read func(io.Reader) error) error {
	asked, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", s.name, err)
	}
	response, err := s.client.Do(asked)
	if err != nil {
		return fmt.Errorf("ask %s: %w", s.name, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(response.Body, 200))
		return fmt.Errorf("ask %s: %s: %q", s.name, response.Status, said)
	}
	if err := read(response.Body); err != nil {
		return fmt.Errorf("read the answer of %s: %w", s.name, err)
	}
	return nil
}

// plain is a request's body as it was before it was compressed.
func plain(r *request) ([]byte, error) {
	switch encoding := r.header.Get("Content-Encoding"); encoding {
	case "":
		return r.body, nil
	case "gzip":
		unzipped, err := gzip.NewReader(bytes.NewReader(r.body))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(unzipped)
	default:
		return nil, fmt.Errorf("content encoding %q", encoding)
	}
}

// packed is r with another body.
func packed(r *request, body *logs.LogsData) (*request, error) {
	b, err := proto.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("write lines: %w", err)
	}
	changed := &request{path: r.path, header: r.header.Clone(), body: b}
	changed.header.Del("Content-Encoding")
	return changed, nil
}
