package check_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/emr-observatory/emr-observatory/dashboards/check"
	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/redelivery"
	"github.com/emr-observatory/emr-observatory/rules"
)

// filledStores are the four real stores with data of every entry of the contract.
type filledStores struct {
	check.Endpoints
	otlp         string
	since, until time.Time
}

func newFilledStores(t *testing.T) filledStores {
	t.Helper()
	w := filledStores{}
	w.Metrics, w.Logs, w.Profiles = storetest.Metrics(t), storetest.Logs(t), storetest.Profiles(t)
	w.Traces, w.otlp = storetest.Traces(t)
	w.until = time.Now().Truncate(time.Second)
	w.since = w.until.Add(-3 * time.Minute)
	w.fillMetrics(t)
	w.fillLogs(t, w.until.Add(-time.Minute))
	w.fillTraces(t, w.until.Add(-10*time.Second))
	w.fillProfiles(t, w.until.Add(-20*time.Second))
	return w
}

// Two applications on one cluster.
const (
	clusterID   = "j-2ABCDEFGHIJKL"
	unnamedID   = "j-3ABCDEFGHIJKL"
	clusterName = "observatory-dev-etl"
	firstApp    = "application_1700000000000_0001"
	secondApp   = "application_1700000000000_0002"
)

// labelValues returns the values that each label of the contract has in filledStores.
func labelValues() map[string][]string {
	return map[string][]string{
		platform.Cluster.Metric():         {clusterID},
		platform.NodeRole.Metric():        {platform.RoleCore},
		platform.HostName.Metric():        {"ip-10-0-0-11", "ip-10-0-0-12"},
		platform.ServiceName.Metric():     {platform.ServiceSparkExecutor},
		platform.SparkAppID.Metric():      {firstApp, secondApp},
		platform.SparkExecutorID.Metric(): {"driver", "1"},
		"cpu":                             {"0", "1"},
		"state":                           {"idle", "user", "wait", "steal", "used", "free"},
		"device":                          {"nvme0n1"}, "direction": {"read", "write"},
		"mountpoint": {"/", "/mnt"}, "type": {"xfs"}, "mode": {"rw"}, "status": {"running"},
		"exporter": {"otlp"}, "data_type": {"metrics"}, "receiver": {"otlp"}, "transport": {"grpc"},
		"queue": {"root", "root.default"}, "processname": {"NodeManager"}, "port": {"8020"}, "servername": {"ClientNamenodeProtocol"},
		"jvm_memory_type": {"heap", "non_heap"}, "jvm_memory_pool_name": {"G1 Old Gen"}, "jvm_gc_name": {"G1 Young Generation"},
		"jvm_gc_action": {"end of minor GC", "end of major GC"}, "jvm_thread_daemon": {"true"}, "jvm_thread_state": {"runnable"},
		"bucket": {"data"}, "reason": {"rate_limited"}, "tenant": {"single-tenant"}, "path": {"/data"}, redelivery.LabelStore: {"tempo"},
		"le": {"0.1", "+Inf"}, "phase": phaseNames(), "kind": {"compute", "write"}, "outcome": {"success", "failed", "killed"},
		"component": {string(platform.ComponentLauncher), string(platform.ComponentCollector)},
		"operation": {"put", "get"}, "measure": {"time", "shuffle_read"}, "of": {"median", "mean"},
		"application_name": {"orders"}, "trace_id": {"0af7651916cd43dd8448eb211c80319c"}, "step_id": {"s-1ABCDEFGHIJKL"},
		"dag_id": {"nightly"}, "task_id": {"orders"}, "run_id": {"scheduled__2026-11-01"}, "try_number": {"1"},
		platform.LabelSchedule: {"nightly"}, platform.LabelClusterName: {clusterName}, platform.LabelClusterRelease: {"emr-7.13.0"},
		"deploy_mode": {"client"}, "spark_version": {"3.5.6"}, "step_name": {"orders"}, "step_state": {"COMPLETED"},
		"rule":   {"gc", "fetch_wait", "spill", "tiny_tasks", "low_parallelism", "stage_retries"},
		"result": {"complete", "incomplete", "failed"},

		platform.LimitSender: {"10.0.1.9"}, platform.LimitSignal: {platform.SignalMetrics, platform.SignalLogs},
	}
}

// valuesOf returns the values of a label, which for some names depend on the metric.
func valuesOf(m contract.Metric, label string) []string {
	if m.Source == contract.SourceSpark {
		switch m.Name + " " + label {
		case "spark_executor_count state":
			return []string{"pending", "active", "idle"}
		case "spark_executor_core_time_seconds_total state":
			return []string{"busy", "idle", "missing"}
		case "spark_task_spill_bytes_total kind":
			return []string{"memory", "disk"}
		case "spark_task_time_seconds_total component":
			return []string{"gc", "fetch_wait", "deserialization", "result_serialization", "cpu", "run"} // the last has the largest values
		case "spark_task_io_bytes_total direction":
			return []string{"input", "output", "shuffle_read", "shuffle_write"}
		}
	}
	return labelValues()[label]
}

// phaseNames returns the values of the label "phase".
func phaseNames() []string {
	var names []string
	for _, phase := range platform.Phases() {
		names = append(names, string(phase))
	}
	return names
}

// series lists one entry's series, one for each combination of label values.
func series(t *testing.T, m contract.Metric, name string) []string {
	t.Helper()
	labels := append(contract.SourceLabels(m.Source), m.Labels...)
	if strings.HasSuffix(name, "_bucket") {
		labels = append(labels, "le")
	}
	found := []string{""}
	for _, label := range labels {
		options := valuesOf(m, label)
		require.NotEmpty(t, options, "no value of label %s of %s: add one to labelValues", label, m.Name)
		var wider []string
		for _, prefix := range found {
			for _, value := range options {
				wider = append(wider, fmt.Sprintf("%s%s=%q,", prefix, label, value))
			}
		}
		found = wider
	}
	return found
}

// firstValue returns the first value of the i-th series of a name.
func firstValue(name string, i int) float64 {
	value := float64(i + 1)
	switch {
	case strings.Contains(name, "_limit") && name != platform.MetricLimitUsed, name == platform.MetricSparkWall:
		// exceeds the values that are divided by it
		return value + 1000
	case name == "jvm_gc_duration_seconds_sum": // all collections together take less than the time
		return value / 1000
	case name == "spark_phase_state":
		return rules.WaitState
	case strings.HasSuffix(name, "_ratio"):
		return 1 / value
	}
	return value
}

// fillMetrics writes a sample of every series of the contract each ten seconds.
func (w filledStores) fillMetrics(t *testing.T) {
	t.Helper()
	var body bytes.Buffer
	for _, m := range contract.Metrics() {
		for _, name := range m.Series() {
			for i, labels := range series(t, m, name) {
				value, step := firstValue(name, i), 0.0
				if m.Type != contract.Gauge {
					step = value
				}
				for at := w.since; !at.After(w.until); at = at.Add(platform.CollectionInterval) {
					fmt.Fprintf(&body, "%s{%s} %g %d\n", name, strings.TrimSuffix(labels, ","), value, at.UnixMilli())
					value += step
				}
			}
		}
	}
	// EMR has not told this cluster's name yet.
	fmt.Fprintf(&body, "system_cpu_logical_count{cluster=%q,node_role=\"core\",host_name=\"ip-10-0-0-11\"} 4 %d\n",
		unnamedID, w.until.UnixMilli())
	storetest.Post(t, w.Metrics+"/api/v1/import/prometheus", "text/plain", body.Bytes())
	storetest.Get(t, w.Metrics+"/internal/force_flush")
}

func (w filledStores) fillLogs(t *testing.T, at time.Time) {
	t.Helper()
	var body bytes.Buffer
	streams := []string{}
	for _, f := range contract.LogFields() {
		if f.Stream {
			streams = append(streams, f.Name)
		}
	}
	for i, severity := range []string{"INFO", "Warn", "ERROR"} {
		line := map[string]string{
			contract.FieldTime: at.Add(time.Duration(i) * time.Second).UTC().Format(time.RFC3339Nano), contract.FieldMessage: "line of a log",
			contract.FieldSeverity: severity, string(platform.Cluster): clusterID, string(platform.NodeRole): platform.RoleCore,
			string(platform.HostName): "ip-10-0-0-11", string(platform.ServiceName): platform.ServiceContainer,
			string(platform.SparkAppID): firstApp,
		}
		require.NoError(t, json.NewEncoder(&body).Encode(line))
	}
	storetest.Post(t, w.Logs+"/insert/jsonline?_stream_fields="+strings.Join(streams, ","), "application/stream+json", body.Bytes())
	storetest.Get(t, w.Logs+"/internal/force_flush")
}

func (w filledStores) fillTraces(t *testing.T, at time.Time) {
	t.Helper()
	id, err := hex.DecodeString(fmt.Sprintf("%032x", at.UnixNano()))
	require.NoError(t, err)
	text := func(key, value string) *commonpb.KeyValue {
		return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
	}
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{
			text(string(platform.ServiceName), platform.ServiceStep), text(string(platform.Cluster), clusterID),
			text(string(platform.SparkAppID), secondApp), // the newest, which a dashboard of one application shows
		}},
		ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{
			TraceId: id, SpanId: id[8:], Name: "step wordcount",
			StartTimeUnixNano: uint64(at.UnixNano()), EndTimeUnixNano: uint64(at.Add(time.Second).UnixNano()),
		}}}},
	}}})
	require.NoError(t, err)
	storetest.Post(t, w.otlp+"/v1/traces", "application/x-protobuf", body)
}

// fillProfiles pushes one sample of each profile type of the contract.
func (w filledStores) fillProfiles(t *testing.T, at time.Time) {
	t.Helper()
	for i := range 2 * len(contract.Profiles()) { // of two applications
		p := contract.Profiles()[i/2]
		parts := strings.Split(p.ID, ":") // name, sample type and unit, period type and unit
		labels := []map[string]string{{"name": "__name__", "value": parts[0]}}
		for _, name := range contract.SourceLabels(contract.SourceJVM) {
			values := labelValues()[name]
			labels = append(labels, map[string]string{"name": name, "value": values[i%2%len(values)]})
		}
		request, err := json.Marshal(map[string]any{"series": []any{map[string]any{
			"labels": labels, "samples": []any{map[string]any{"rawProfile": pprof(parts, at)}},
		}}})
		require.NoError(t, err)
		storetest.Post(t, w.Profiles+"/push.v1.PusherService/Push", "application/json", request)
	}
}

// pprof encodes a profile of one stack (github.com/google/pprof, profile.proto).
func pprof(parts []string, at time.Time) []byte {
	texts := []string{"", parts[1], parts[2], parts[3], parts[4], "Main.run"}
	field := func(out []byte, number protowire.Number, body []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(out, number, protowire.BytesType), body)
	}
	integer := func(out []byte, number protowire.Number, value uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(out, number, protowire.VarintType), value)
	}
	var out []byte
	out = field(out, 1, integer(integer(nil, 1, 1), 2, 2))                // sample type
	out = field(out, 2, integer(integer(nil, 1, 1), 2, 1000))             // sample: location, value
	out = field(out, 4, field(integer(nil, 1, 1), 4, integer(nil, 1, 1))) // location with one line
	out = field(out, 5, integer(integer(nil, 1, 1), 2, 5))                // function
	for _, text := range texts {
		out = field(out, 6, []byte(text))
	}
	out = integer(out, 9, uint64(at.UnixNano()))
	out = field(out, 11, integer(integer(nil, 1, 3), 2, 4)) // period type
	return integer(out, 12, 1)
}
