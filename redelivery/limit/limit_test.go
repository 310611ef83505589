package limit

import (
	"bytes"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/stretchr/testify/require"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/emr-observatory/emr-observatory/platform"
)

func attributes(pairs ...string) (out []*common.KeyValue) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, &common.KeyValue{Key: pairs[i], Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: pairs[i+1]}}})
	}
	return out
}

// from is the resource of a sender, which says that it is a node of another cluster.
func from(sender string) *resource.Resource {
	return &resource.Resource{Attributes: attributes("cluster", "j-OTHERS", platform.AttributeSender, sender)}
}

func encoded(t *testing.T, m proto.Message) []byte {
	t.Helper()
	body, err := proto.Marshal(m)
	require.NoError(t, err)
	return body
}

// records are log records of a sender, each with a text of 100 bytes and a number.
func records(t *testing.T, sender string, count int) []byte {
	t.Helper()
	var all []*logs.LogRecord
	for i := range count {
		all = append(all, record(i))
	}
	return encoded(t, &logs.LogsData{ResourceLogs: []*logs.ResourceLogs{{
		Resource: from(sender), ScopeLogs: []*logs.ScopeLogs{{LogRecords: all}},
	}}})
}

func record(number int) *logs.LogRecord {
	text := fmt.Sprintf("%0100d", number)
	return &logs.LogRecord{Body: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: text}}}
}

func spans(t *testing.T, sender string, count int) []byte {
	t.Helper()
	var all []*tracev1.Span
	for i := range count {
		all = append(all, &tracev1.Span{Name: fmt.Sprintf("span %d", i), TraceId: bytes.Repeat([]byte{1}, 16)})
	}
	return encoded(t, &tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{
		Resource: from(sender), ScopeSpans: []*tracev1.ScopeSpans{{Spans: all[:count/2]}, {Spans: all[count/2:]}},
	}}})
}

// limited is a limiter with its metrics.
type limited struct {
	*Limiter
	t   *testing.T
	set *metrics.Set
}

func newLimited(t *testing.T, limits Limits) limited {
	t.Helper()
	set := metrics.NewSet()
	l := limited{New(limits, set), t, set}
	l.SetSenders(map[netip.Addr]string{
		netip.MustParseAddr("10.0.0.1"): "j-ONE", netip.MustParseAddr("10.0.0.2"): "j-ONE", netip.MustParseAddr("10.0.0.3"): "j-TWO",
	})
	return l
}

// requireMetric compares a metric of a share.
func (l limited) requireMetric(name, signal, labels string, value any) {
	l.t.Helper()
	var all bytes.Buffer
	l.set.WritePrometheus(&all)
	require.Contains(l.t, all.String(), fmt.Sprintf("%s{signal=%q,%s} %v\n", name, signal, labels, value))
}

func numberOfRecords(t *testing.T, body []byte) (count int) {
	t.Helper()
	var all logs.LogsData
	require.NoError(t, proto.Unmarshal(body, &all))
	for _, r := range all.GetResourceLogs() {
		for _, s := range r.GetScopeLogs() {
			count += len(s.GetLogRecords())
		}
	}
	return count
}

// A cluster has one share, whatever its nodes call themselves, and uses up nobody else's. The address
// has the port of a connection, or none.
func TestAClusterUsesUpItsOwnShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resources := proto.Size(from("10.0.0.1:40000")) + proto.Size(from("10.0.0.2"))
		l := newLimited(t, Limits{platform.SignalLogs: int64(10*(proto.Size(record(0))+recordBytes) + resources)})
		a := l.Admit(platform.SignalLogs, records(t, "10.0.0.1:40000", 6))
		require.True(t, a.Whole)
		a.Stored()
		body := records(t, "10.0.0.2", 6)
		a = l.Admit(platform.SignalLogs, body)
		require.False(t, a.Whole)
		require.Equal(t, 4, numberOfRecords(t, a.Body))
		l.requireMetric(platform.MetricOverLimit, "logs", `cluster="j-ONE"`, 0)
		a.Stored()
		l.requireMetric(platform.MetricOverLimit, "logs", `cluster="j-ONE"`, 2)
		l.requireMetric(platform.MetricLimitUsed, "logs", `cluster="j-ONE"`, 1)
		a = l.Admit(platform.SignalLogs, body)
		require.Nil(t, a.Body, "nothing is left to send")
		a.Stored()
		l.requireMetric(platform.MetricOverLimit, "logs", `cluster="j-ONE"`, 8)

		require.True(t, l.Admit(platform.SignalLogs, records(t, "10.0.0.3", 10)).Whole, "another cluster")
		require.True(t, l.Admit(platform.SignalLogs, records(t, "10.0.0.9", 10)).Whole, "a node of a cluster that is not known")
		l.requireMetric(platform.MetricOverLimit, "logs", `sender="10.0.0.9"`, 0)

		time.Sleep(window / 2) // half of it is there again
		a = l.Admit(platform.SignalLogs, body)
		require.Equal(t, 5, numberOfRecords(t, a.Body))
		require.Equal(t, records(t, "10.0.0.2", 5), a.Body)
	})
}

// What the store did not take is sent again, and counts once.
func TestWhatIsSentAgainCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimited(t, Limits{platform.SignalTraces: 10})
		for range 5 {
			a := l.Admit(platform.SignalTraces, spans(t, "10.0.0.1", 12))
			require.False(t, a.Whole)
			a.Lost()
		}
		l.requireMetric(platform.MetricOverLimit, "traces", `cluster="j-ONE"`, 0)
		a := l.Admit(platform.SignalTraces, spans(t, "10.0.0.1", 12))
		a.Stored()
		l.requireMetric(platform.MetricOverLimit, "traces", `cluster="j-ONE"`, 2)
		var left tracev1.TracesData
		require.NoError(t, proto.Unmarshal(a.Body, &left))
		require.Len(t, left.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans(), 6)
		require.Len(t, left.GetResourceSpans()[0].GetScopeSpans()[1].GetSpans(), 4, "in the order in which they came")
	})
}

// What is large counts as several, also what is only in the resource.
func TestSizesCount(t *testing.T) {
	l := newLimited(t, Limits{platform.SignalLogs: 5000, platform.SignalTraces: 10, platform.SignalProfiles: 10})
	large := from("10.0.0.1")
	large.Attributes = append(large.Attributes, attributes("host.name", string(make([]byte, 6000)))...)
	body := encoded(t, &logs.LogsData{ResourceLogs: []*logs.ResourceLogs{{
		Resource: large, ScopeLogs: []*logs.ScopeLogs{{LogRecords: []*logs.LogRecord{record(1), record(2)}}},
	}}})
	a := l.Admit(platform.SignalLogs, body)
	require.Equal(t, 1, numberOfRecords(t, a.Body), "the first record has the resource's bytes")
	span := &tracev1.Span{Name: string(make([]byte, 20<<10))}
	body = encoded(t, &tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{
		Resource: from("10.0.0.1"), ScopeSpans: []*tracev1.ScopeSpans{{Spans: []*tracev1.Span{span, span}}},
	}}})
	require.False(t, l.Admit(platform.SignalTraces, body).Whole)
	require.Nil(t, l.Profile("10.0.0.1", -1), "it may be the largest")
	require.NotNil(t, l.Profile("10.0.0.1", 8<<20))
	require.Nil(t, l.Profile("10.0.0.1", 1<<20))
}

// The first of several senders of a resource is the collector's, and what is no address has a share, too.
func TestASenderThatIsMadeUp(t *testing.T) {
	l := newLimited(t, Limits{platform.SignalTraces: 10})
	forged := from("10.0.0.1:1")
	forged.Attributes = append(forged.Attributes, from("10.0.0.3").GetAttributes()...)
	forged.Attributes = append(forged.Attributes, &common.KeyValue{Key: platform.AttributeSender})
	body := encoded(t, &tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{
		Resource: forged, ScopeSpans: []*tracev1.ScopeSpans{{Spans: make([]*tracev1.Span, 11)}},
	}}})
	l.Admit(platform.SignalTraces, body).Stored()
	l.requireMetric(platform.MetricOverLimit, "traces", `cluster="j-ONE"`, 1)
	for _, sender := range []string{"localhost", ""} {
		require.True(t, l.Admit(platform.SignalTraces, spans(t, sender, 4)).Whole)
	}
	require.False(t, l.Admit(platform.SignalTraces, spans(t, "another word", 4)).Whole)
}

func TestWhatHasNoSenderOrNoLimitPasses(t *testing.T) {
	l := newLimited(t, Limits{platform.SignalLogs: 1})
	for name, body := range map[string][]byte{
		"a pod's": records(t, "10.42.0.7:1", 3), "not OTLP": []byte("none"), "empty": {},
		"the collector's own": encoded(t, &logs.LogsData{ResourceLogs: []*logs.ResourceLogs{{
			Resource: &resource.Resource{}, ScopeLogs: []*logs.ScopeLogs{{LogRecords: []*logs.LogRecord{record(1)}}},
		}}}),
	} {
		a := l.Admit(platform.SignalLogs, body)
		require.Empty(t, l.shares, name)
		require.True(t, a.Whole, name)
		require.Equal(t, body, a.Body, name)
		a.Stored()
	}
	require.True(t, l.Admit(platform.SignalTraces, spans(t, "10.0.0.1", 100)).Whole)
	require.NotNil(t, l.Profile("10.0.0.1:1", 100))
}

func TestProfilesAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimited(t, Limits{platform.SignalProfiles: 2})
		giveBack := l.Profile("10.0.0.1:1000", 100)
		require.NotNil(t, giveBack)
		giveBack()
		require.NotNil(t, l.Profile("10.0.0.1:1001", 100))
		require.NotNil(t, l.Profile("10.0.0.2:1001", 100))
		require.Nil(t, l.Profile("10.0.0.1:1002", 100))
		l.requireMetric(platform.MetricOverLimit, "profiles", `cluster="j-ONE"`, 1)
		require.NotNil(t, l.Profile("[::ffff:10.0.0.3]:1", 100), "another cluster")
		time.Sleep(window)
		require.NotNil(t, l.Profile("10.0.0.1:1002", 100))
	})
}

// A node has a share of its own until its cluster is known, and shares that nobody uses are forgotten.
func TestSharesFollowClusters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimited(t, Limits{platform.SignalProfiles: 1, platform.SignalMetrics: 1})
		require.NotNil(t, l.Profile("10.0.0.9:1", 100))
		require.Nil(t, l.Profile("10.0.0.9:1", 100))
		require.True(t, l.Admit(platform.SignalMetrics, measured(t, "10.0.0.9", gauge("a", point()))).Whole)
		l.SetSenders(map[netip.Addr]string{netip.MustParseAddr("10.0.0.9"): "j-NINE"})
		require.Nil(t, l.Profile("10.0.0.9:1", 100), "what it used is its cluster's")
		require.True(t, l.Admit(platform.SignalMetrics, measured(t, "10.0.0.9", gauge("a", point()))).Whole)
		require.False(t, l.Admit(platform.SignalMetrics, measured(t, "10.0.0.9", gauge("b", point()))).Whole)
		require.Len(t, l.shares, 1)
		time.Sleep(window + time.Second)
		require.NotNil(t, l.Profile("10.0.0.1:1", 100))
		l.requireMetric(platform.MetricOverLimit, "profiles", `sender="10.0.0.1"`, 0)
		require.Len(t, l.shares, 1)
		var all bytes.Buffer
		l.set.WritePrometheus(&all)
		require.NotContains(t, all.String(), "j-NINE")
	})
}

func TestParse(t *testing.T) {
	limits, err := Parse([]string{"metrics=5", "logs=1048576"})
	require.NoError(t, err)
	require.Equal(t, Limits{platform.SignalMetrics: 5, platform.SignalLogs: 1 << 20}, limits)
	_, err = Parse([]string{"metric=5", "logs=0", "traces", "profiles=-1"})
	for _, wrong := range []string{`"metric=5"`, `"logs=0"`, `"traces"`, `"profiles=-1"`} {
		require.ErrorContains(t, err, "limit "+wrong+": must be metrics or logs or traces or profiles, = and a number above 0")
	}
}
