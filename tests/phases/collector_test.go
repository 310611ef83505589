package phases_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/platform"
)

// receiver stands at the place of the node's collector and keeps what the JVMs send.
// The launcher's own tests send to the real one.
type receiver struct {
	mu       sync.Mutex
	requests int // so far
	spans    []sentSpan
	first    map[string]sentSpan // by id
	points   []sentPoint
	shapes   map[string]map[string]shape // of metrics, by application and name
	logs     map[string]int              // records by application
	faults   []string                    // requests that are not OTLP, or whose resource names no application
}

type attribute struct {
	Key   string `json:"key"`
	Value struct {
		String *string         `json:"stringValue"`
		Int    json.RawMessage `json:"intValue"`
		Double *float64        `json:"doubleValue"`
		Bool   *bool           `json:"boolValue"`
	} `json:"value"`
}

type attributes map[string]string

// sentSpan is a span as it was sent.
type sentSpan struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	ParentID   string      `json:"parentSpanId"`
	Name       string      `json:"name"`
	Start      json.Number `json:"startTimeUnixNano"`
	End        json.Number `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`

	application string
	values      attributes
	request     int // number of the request that had it
}

// sentPoint is a point of a metric.
type sentPoint struct {
	application, name string
	values            attributes
	value             float64
	at                time.Time // when it arrived
}

// shape is how a metric was sent: the labels are those of all its points.
type shape struct {
	kind   contract.Type
	unit   string
	labels map[string]bool
}

type sentMetric struct {
	Name      string     `json:"name"`
	Unit      string     `json:"unit"`
	Gauge     sentPoints `json:"gauge"`
	Sum       sentPoints `json:"sum"`
	Histogram sentPoints `json:"histogram"`
}

type sentPoints struct {
	Monotonic bool `json:"isMonotonic"`
	Points    []struct {
		Double     *float64        `json:"asDouble"`
		Int        json.RawMessage `json:"asInt"`
		Count      json.RawMessage `json:"count"`
		Attributes []attribute     `json:"attributes"`
	} `json:"dataPoints"`
}

type resourceOf struct {
	Attributes []attribute `json:"attributes"`
}

type request struct {
	Spans []struct {
		Resource resourceOf `json:"resource"`
		Scopes   []struct {
			Spans []sentSpan `json:"spans"`
		} `json:"scopeSpans"`
	} `json:"resourceSpans"`
	Logs []struct {
		Resource resourceOf `json:"resource"`
		Scopes   []struct {
			Records []json.RawMessage `json:"logRecords"`
		} `json:"scopeLogs"`
	} `json:"resourceLogs"`
	Metrics []struct {
		Resource resourceOf `json:"resource"`
		Scopes   []struct {
			Metrics []sentMetric `json:"metrics"`
		} `json:"scopeMetrics"`
	} `json:"resourceMetrics"`
}

// serve listens where the node's collector does.
func (r *receiver) serve() error {
	server := &http.Server{Addr: fmt.Sprintf("127.0.0.1:%d", platform.OTLPHTTP), Handler: r, ReadHeaderTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err := <-failed:
		return err
	case <-time.After(100 * time.Millisecond):
		return nil
	}
}

// addSpan keeps a span, unless an earlier request had it already: on a busy machine the
// launcher may not wait long enough for the answer, and sends the batch again.
func (r *receiver) addSpan(s sentSpan) {
	s.request = r.requests
	id := s.TraceID + s.SpanID
	first, found := r.first[id]
	if !found {
		r.first[id] = s
	} else if first.request != s.request {
		first.request = s.request
		if reflect.DeepEqual(first, s) {
			return
		}
	}
	r.spans = append(r.spans, s)
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, incoming *http.Request) {
	body, err := io.ReadAll(incoming.Body)
	if err != nil {
		return // the sender was killed meanwhile
	}
	var sent request
	err = json.Unmarshal(body, &sent)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	if err != nil {
		r.faults = append(r.faults, fmt.Sprintf("%s: %v", incoming.URL.Path, err))
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, resource := range sent.Spans {
		application := r.applicationOf(resource.Resource)
		for _, scope := range resource.Scopes {
			for _, s := range scope.Spans {
				s.application, s.values = application, read(s.Attributes)
				r.addSpan(s)
			}
		}
	}
	for _, resource := range sent.Logs {
		application := r.applicationOf(resource.Resource)
		for _, scope := range resource.Scopes {
			r.logs[application] += len(scope.Records)
		}
	}
	for _, resource := range sent.Metrics {
		application := r.applicationOf(resource.Resource)
		for _, scope := range resource.Scopes {
			for _, m := range scope.Metrics {
				r.add(application, m.Name, contract.Gauge, m.Unit, m.Gauge)
				kind := contract.Gauge // as a sum that may fall is to be read
				if m.Sum.Monotonic {
					kind = contract.Counter
				}
				r.add(application, m.Name, kind, m.Unit, m.Sum)
				r.add(application, m.Name, contract.Histogram, m.Unit, m.Histogram)
			}
		}
	}
}

// add keeps the points of a metric; the value of a histogram's is its count.
func (r *receiver) add(application, name string, kind contract.Type, unit string, sent sentPoints) {
	for _, p := range sent.Points {
		value := number(p.Int) + number(p.Count)
		if p.Double != nil {
			value = *p.Double
		}
		labels := read(p.Attributes)
		r.points = append(r.points, sentPoint{application, name, labels, value, time.Now()})
		if r.shapes[application] == nil {
			r.shapes[application] = map[string]shape{}
		}
		if r.shapes[application][name].labels == nil {
			r.shapes[application][name] = shape{kind, unit, map[string]bool{}}
		}
		for label, text := range labels {
			if text != "" { // which stores do not keep
				r.shapes[application][name].labels[platform.Label(label).Metric()] = true
			}
		}
	}
}

func (r *receiver) applicationOf(resource resourceOf) string {
	labels := read(resource.Attributes)
	application := labels[string(platform.SparkAppID)]
	if !applicationID.MatchString(application) {
		r.faults = append(r.faults, fmt.Sprintf("no application: %v", labels))
	}
	return application
}

// named returns the latest application of that name that tells about itself.
func (r *receiver) named(name string) (application string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.points {
		if p.name == "spark.application.info" && p.values["application_name"] == name {
			application = p.application
		}
	}
	return application
}

// spansOf returns the spans of an application.
func (r *receiver) spansOf(application string) []sentSpan {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []sentSpan
	for _, s := range r.spans {
		if s.application == application {
			found = append(found, s)
		}
	}
	return found
}

// pointsOf returns the points of an application's metric, in order of arrival.
func (r *receiver) pointsOf(application, metric string) []sentPoint {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []sentPoint
	for _, p := range r.points {
		if p.application == application && p.name == metric {
			found = append(found, p)
		}
	}
	return found
}

func read(list []attribute) attributes {
	out := attributes{}
	for _, a := range list {
		switch v := a.Value; {
		case v.String != nil:
			out[a.Key] = *v.String
		case v.Double != nil:
			out[a.Key] = strconv.FormatFloat(*v.Double, 'g', -1, 64)
		case v.Bool != nil:
			out[a.Key] = strconv.FormatBool(*v.Bool)
		default:
			out[a.Key] = fmt.Sprint(number(v.Int))
		}
	}
	return out
}

// number reads an integer, which OTLP's JSON writes as a string.
func number(raw json.RawMessage) float64 {
	var text json.Number
	_ = json.Unmarshal(raw, &text)
	value, _ := text.Float64()
	return value
}
