package node_test

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/emr-observatory/emr-observatory/platform"
)

// signallingMain gives the launcher what a Spark plugin does, of two applications, and
// exits at once. One of its metric sources fails, one has a value that JSON has not.
const signallingMain = `static observatory.launcher.Span span(String app, int i) {
  return new observatory.launcher.Span(app, "0af7651916cd43dd8448eb211c80319c", String.format("%016x", i),
     i == 1 ? null : "0000000000000001", "job " + i, 1_700_000_000_000_000_000L + i, 1_700_000_000_500_000_000L + i); }
static class Source implements observatory.launcher.Signals.MetricSource {
  final String app; final boolean fails; Source(String a, boolean f) { app = a; fails = f; }
  public String applicationId() { return app; }
  public void write(observatory.launcher.Signals.MetricWriter out) {
    out.gauge("test.gauge", "s");
    out.point(1.5, "app", app); out.point(Double.NaN, "app", "not a number");
    if (fails) throw new NoSuchMethodError("of another Spark");
    out.end(); } }
public static void main(String[] a) throws Exception {
  org.apache.logging.log4j.core.LoggerContext context =
     (org.apache.logging.log4j.core.LoggerContext) org.apache.logging.log4j.LogManager.getContext(false);
  org.apache.logging.log4j.Logger log = org.apache.logging.log4j.LogManager.getLogger("job");
  while (context.getConfiguration().getRootLogger().getAppenders().get("observatory") == null) Thread.sleep(5);
  observatory.launcher.Signals.add(new Source("application_1_0001", false));
  observatory.launcher.Signals.add(new Source("application_1_0002", false));
  observatory.launcher.Signals.add(new Source("application_1_0003", true));
  observatory.launcher.Signals.add(new Source(null, false));
  observatory.launcher.Signals.span(span("application_1_0001", 1).put("spark.kind", "job").put("spark.job.id", 7L)
     .put("spark.share", 0.5).put("spark.ok", true).put("nothing", null).error("out of \"luck\"\n")
     .link("1af7651916cd43dd8448eb211c80319c", "00f067aa0ba902b7"));
  for (int i = 2; i <= 1500; i++) observatory.launcher.Signals.span(span("application_1_0002", i));
  log.info("outside");
  observatory.launcher.Signals.traceApplication("0af7651916cd43dd8448eb211c80319c", "0000000000000001");
  log.info("of the application");
  observatory.launcher.Signals.enterTask("0af7651916cd43dd8448eb211c80319c", "0000000000000002");
  log.info("in a task");
  Thread other = new Thread(() -> log.info("in another thread")); other.start(); other.join();
  observatory.launcher.Signals.leaveTask();
  log.info("after the task");
  boolean flushed = false; // one call waits for little more than a second, further ones for less
  for (long end = System.nanoTime() + 60_000_000_000L; !flushed && System.nanoTime() < end; Thread.sleep(50))
    flushed = observatory.launcher.Signals.flush(1000);
  System.out.println("flushed " + flushed + ", dropped " + observatory.launcher.Signals.spansDropped());
  observatory.launcher.Signals.identify("application_1_0002");
  log.info("of the next application");
}`

// What the launcher writes for itself is decoded by the real collector.
func TestPluginSignalsArrive(t *testing.T) {
	jars := log4jJars(t)
	if !onMachine(t) {
		return
	}
	s, _ := startNode(t)
	jars += ":" + platform.NodeLauncherJar
	classes := compileJavaAgainst(t, jars, map[string]string{executorMain: signallingMain})
	write(t, filepath.Join(classes, "log4j2.properties"), log4jConfig)
	out, _ := startJVM(t, classes, jars).end(t)
	require.Contains(t, out, "flushed true, dropped 0\n")
	require.Equal(t, 1, strings.Count(out, "observatory:"), out)
	require.Contains(t, out, "observatory: telemetry not sent: java.lang.NoSuchMethodError: of another Spark\n")

	first := s.span(t, "of the first application", func(r spanRow) bool { return r.span.GetName() == "job 1" })
	require.Equal(t, executorLabels, first.resource)
	require.Equal(t, "0af7651916cd43dd8448eb211c80319c", hex.EncodeToString(first.span.GetTraceId()))
	require.Equal(t, "0000000000000001", hex.EncodeToString(first.span.GetSpanId()))
	require.Empty(t, first.span.GetParentSpanId())
	require.Equal(t, traces.Span_SPAN_KIND_INTERNAL, first.span.GetKind())
	require.EqualValues(t, 1_700_000_000_000_000_001, first.span.GetStartTimeUnixNano())
	require.EqualValues(t, 1_700_000_000_500_000_001, first.span.GetEndTimeUnixNano())
	require.Equal(t, traces.Status_STATUS_CODE_ERROR, first.span.GetStatus().GetCode())
	require.Equal(t, "out of \"luck\"\n", first.span.GetStatus().GetMessage())
	require.Len(t, first.span.GetAttributes(), 5)
	require.Equal(t, "out of \"luck\"\n", first.attributes["exception.message"])
	for i, want := range []any{"job", int64(7), 0.5, true} {
		value := first.span.GetAttributes()[i].GetValue()
		require.Contains(t, []any{value.GetStringValue(), value.GetIntValue(), value.GetDoubleValue(), value.GetBoolValue()}, want)
	}
	require.Len(t, first.span.GetLinks(), 1)
	require.Equal(t, "00f067aa0ba902b7", hex.EncodeToString(first.span.GetLinks()[0].GetSpanId()))
	requireSecondApplication(t, s)
	requireLogTraces(t, s)
}

// requireSecondApplication checks what the JVM sent under an id that is not its own.
func requireSecondApplication(t *testing.T, s *sink) {
	t.Helper()
	second := executorLabels.with("spark.app.id", "application_1_0002")
	ids := map[string]int{}
	await(t, s, "all spans", func() (bool, bool) {
		clear(ids)
		for _, row := range s.spans {
			ids[hex.EncodeToString(row.span.GetSpanId())]++
		}
		return true, len(ids) == 1500
	})
	for id, times := range ids {
		require.Equal(t, 1, times, id)
		n, err := strconv.ParseUint(id, 16, 64)
		require.NoError(t, err)
		if n > 1 {
			row := s.span(t, id, func(r spanRow) bool { return hex.EncodeToString(r.span.GetSpanId()) == id })
			require.Equal(t, second, row.resource)
			require.Equal(t, "0000000000000001", hex.EncodeToString(row.span.GetParentSpanId()))
		}
	}
	for _, app := range []string{"application_1_0001", "application_1_0002"} {
		row := s.metric(t, "test.gauge", func(r metricRow) bool { return r.resource["spark.app.id"] == app })
		require.Equal(t, executorLabels.with("spark.app.id", app), row.resource)
		require.Len(t, row.metric.GetGauge().GetDataPoints(), 1, "NaN has no point")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range s.metrics {
		require.NotEqual(t, "application_1_0003", row.resource["spark.app.id"], "%s of a source that failed", row.metric.GetName())
	}
}

func requireLogTraces(t *testing.T, s *sink) {
	t.Helper()
	for body, span := range map[string]string{
		"outside": "", "of the application": "0000000000000001", "in a task": "0000000000000002",
		"in another thread": "0000000000000001", "after the task": "0000000000000001",
	} {
		row := s.log(t, body, func(r logRow) bool { return r.record.GetBody().GetStringValue() == body })
		require.Equal(t, executorLabels, row.resource, body)
		require.Equal(t, span, hex.EncodeToString(row.record.GetSpanId()), body)
		require.Equal(t, span != "", len(row.record.GetTraceId()) == 16, body)
	}
	row := s.log(t, "of the next application", func(r logRow) bool { return r.record.GetBody().GetStringValue() == "of the next application" })
	require.Equal(t, "application_1_0002", row.resource["spark.app.id"])
}

// Nobody takes the spans: the queue stays within its bound, and says what it dropped.
func TestCountsUndeliveredSpans(t *testing.T) {
	if !onMachine(t) {
		return
	}
	const fillingMain = `public static void main(String[] a) throws Exception {
  String text = new String(new char[1000]).replace('\0', 'x');
  int taken = 0;
  for (int i = 0; i < 100000; i++)
    if (observatory.launcher.Signals.span(new observatory.launcher.Span("app", "0af7651916cd43dd8448eb211c80319c", "0000000000000001", null,
       "job", 0, 1).put("text", text + i))) taken++;
  System.out.println(taken + " " + observatory.launcher.Signals.spansDropped() + " " + observatory.launcher.Signals.flush(10));
}`
	installLauncher(t)
	startPyroscope(t, nil)
	serveTelemetry(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }) // no flush is served
	jars := ":" + platform.NodeLauncherJar
	out, _ := startJVM(t, compileJavaAgainst(t, jars, map[string]string{executorMain: fillingMain}), jars, exitsSoon(), "-Xmx32m").end(t)
	var taken, dropped int
	var flushed bool
	_, err := fmt.Sscan(regexp.MustCompile(`\d+ \d+ (true|false)`).FindString(out), &taken, &dropped, &flushed)
	require.NoError(t, err, out)
	require.Equal(t, 100000, taken+dropped)
	require.Greater(t, taken, 1000)
	require.Less(t, taken*2000, 8<<20, "bytes of the texts")
	require.False(t, flushed)
}

// A collector that refuses spans for good has them counted; they are not sent again.
func TestRefusedSpansAreCounted(t *testing.T) {
	if !onMachine(t) {
		return
	}
	const sendingMain = `public static void main(String[] a) throws Exception {
  for (int i = 0; i < 7; i++)
    observatory.launcher.Signals.span(new observatory.launcher.Span("app", "0af7651916cd43dd8448eb211c80319c", "0000000000000001", null,
       "job", 0, 1));
  for (long end = System.nanoTime() + 60_000_000_000L; observatory.launcher.Signals.spansRefused() < 7 && System.nanoTime() < end;)
    Thread.sleep(observatory.launcher.Signals.flush(1000) ? 1 : 50);
  System.out.println(observatory.launcher.Signals.spansRefused() + " refused, " + observatory.launcher.Signals.spansDropped() + " dropped");
}`
	installLauncher(t)
	startPyroscope(t, nil)
	serveTelemetry(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/v1/traces" {
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	jars := ":" + platform.NodeLauncherJar
	out, _ := startJVM(t, compileJavaAgainst(t, jars, map[string]string{executorMain: sendingMain}), jars).end(t)
	require.Contains(t, out, "7 refused, 0 dropped")
}
