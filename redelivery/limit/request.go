package limit

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Fields of OTLP's messages (opentelemetry-proto 1.x). The requests of all signals have resources
// with scopes with items, under the same numbers.
const (
	fieldResources  = 1 // of a request
	fieldResource   = 1 // of a resource's entry
	fieldScopes     = 2
	fieldItems      = 2 // of a scope's entry: metrics, log records or spans
	fieldAttributes = 1 // of a resource

	fieldKey, fieldValue = 1, 2 // of an attribute
	fieldString          = 1    // of a value

	fieldName, fieldUnit = 1, 3 // of a metric
	fieldDataPoints      = 1    // of each kind of a metric's data
	fieldQuantile        = 1    // of an element of quantiles
)

// dataPoint is what differs between the data points of metrics.
type dataPoint struct {
	attributes protowire.Number
	series     int64 // besides those of the fields below

	// Each element of these fields is a series of its own.
	bounds    protowire.Number    // packed, of eight bytes each
	quantiles protowire.Number    // messages
	buckets   [2]protowire.Number // messages with packed counts, and where they begin

	// These say where buckets begin, too: scale and zero threshold.
	layout [2]protowire.Number
}

// dataPoints are a metric's fields of data: gauge, sum, histogram, exponential histogram, summary. How
// many series they are is VictoriaMetrics' rule (lib/protoparser/opentelemetry/stream).
var dataPoints = map[protowire.Number]dataPoint{
	5:  {attributes: 7, series: 1},
	7:  {attributes: 7, series: 1},
	9:  {attributes: 9, series: 3, bounds: 7},
	10: {attributes: 1, series: 3, buckets: [2]protowire.Number{8, 9}, layout: [2]protowire.Number{6, 14}},
	11: {attributes: 7, series: 2, quantiles: 6},
}

// Admission is what of a request may be stored. Call Stored or Lost once.
type Admission struct {
	// Body is the request without what is refused; nil if nothing is left.
	Body []byte
	// Whole is set if nothing is refused.
	Whole bool

	uses map[string]*use // by sender
}

// use is what an admission takes from a share.
type use struct {
	share          *share
	signal         string
	taken          int64
	items, refused int64
	from           int64 // bytes of the resource whose first record comes next
}

// Stored counts what was refused. Until then it may be that the sender tries again.
func (a Admission) Stored() {
	for _, u := range a.uses {
		if u.refused > 0 {
			u.share.refused[u.signal].Add(int(u.refused))
		}
	}
}

// Lost gives back what was taken: the request was not stored, and is sent again.
func (a Admission) Lost() {
	for _, u := range a.uses {
		u.share.giveBack(u.signal, u.taken)
	}
}

// Admit decides what of a request, an OTLP message without compression, may be stored, by the
// attribute that the collector gave each resource (platform.AttributeSender). What has none is of the
// collector itself, and passes. So does what is not OTLP: its store rejects it.
func (l *Limiter) Admit(signal string, body []byte) Admission {
	a, unlimited := Admission{Whole: true, uses: map[string]*use{}}, false
	rest, err := edit(body, fieldResources, func(entry []byte) ([]byte, error) {
		o, err := l.origin(entry)
		if err != nil {
			return nil, err
		}
		u := l.use(a.uses, o, signal)
		if u == nil {
			unlimited = true
			return entry, nil
		}
		u.from = o.size
		u.share.mu.Lock()
		defer u.share.mu.Unlock()
		u.share.refill(time.Now())
		return edit(entry, fieldScopes, func(scope []byte) ([]byte, error) {
			return edit(scope, fieldItems, func(item []byte) ([]byte, error) { return l.item(o, item, u) })
		})
	})
	if err != nil {
		a.Lost()
		return Admission{Body: body, Whole: true}
	}
	stays := unlimited
	for _, u := range a.uses {
		a.Whole = a.Whole && u.refused == 0
		stays = stays || u.items > u.refused
	}
	if a.Whole || stays {
		a.Body = rest
	}
	return a
}

// use returns what an admission takes from the share of a resource's sender; nil if that has no limits.
func (l *Limiter) use(uses map[string]*use, o origin, signal string) *use {
	if !o.sent {
		return nil
	}
	if u := uses[o.sender]; u != nil {
		return u
	}
	s := l.share(o.sender)
	if s == nil {
		return nil
	}
	uses[o.sender] = &use{share: s, signal: signal}
	return uses[o.sender]
}

// item returns what is left of an item. The caller holds the share's lock.
func (l *Limiter) item(o origin, item []byte, u *use) ([]byte, error) {
	switch u.signal {
	case platform.SignalMetrics:
		return l.metric(o, item, u)
	case platform.SignalLogs:
		amount := int64(len(item)) + u.from + recordBytes
		u.from = 0
		return u.takeOr(item, amount), nil
	case platform.SignalTraces:
		return u.takeOr(item, 1+int64(len(item))/spanBytes), nil
	}
	return item, nil
}

// takeOr returns an item if its share has an amount left for it.
func (u *use) takeOr(item []byte, amount int64) []byte {
	u.items++
	if !u.share.take(u.signal, amount) {
		u.refused++
		return nil
	}
	u.taken += amount
	return item
}
