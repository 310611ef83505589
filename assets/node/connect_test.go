package node_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/internal/sparktest"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/phases"
	"github.com/emr-observatory/emr-observatory/phases/spans"
	"github.com/emr-observatory/emr-observatory/platform"
)

// sparkConnect is the server, and the protocol that the test's clients speak.
func sparkConnect() mavenJar {
	return mavenJar{"org.apache.spark:spark-connect_2.12:3.5.5",
		"ad64f1d0ab7ca629ff47e208cb122a3cea8a24d96c85e0873c355112315f6668"}
}

// sparkConnect4 is the same of Spark 4.
func sparkConnect4() mavenJar {
	return mavenJar{"org.apache.spark:spark-connect_2.13:4.0.1",
		"74a14b14a167f972a014c3c3908c8a9e2b59ac2497f479d58e92298a2b3fa6c3"}
}

// connectServer is a Spark Connect server with the launcher.
type connectServer struct {
	*received
	cmd     *exec.Cmd
	printed bytes.Buffer
	log     string // the folder of its event log
	traced  bool
	blind   bool   // it has no interceptor: nobody tells which call ran the jobs of an analysis
	clients string // class path
}

// longLived is an option of a server that the JVM may spend time on compiling for.
const longLived = "spark.app.name=long-lived"

// startConnect starts a server. options are spark-submit's, with which it finds its jar.
func startConnect(t *testing.T, home, connect string, options ...string) *connectServer {
	t.Helper()
	startPyroscope(t, nil)
	classes, work := t.TempDir(), t.TempDir()
	require.NoError(t, javac(classes, connect, "connect/src/test/java/connect/*.java"))
	s := &connectServer{
		received: receiveTelemetry(t), log: t.TempDir(), traced: slices.Contains(options, traced),
		clients: strings.Join([]string{classes, connect, filepath.Join(home, "jars", "*")}, ":"),
	}
	line := slices.Concat([]string{"--master", "local[2]", "--driver-memory", "1g"}, options, []string{
		"--class", "org.apache.spark.sql.connect.service.SparkConnectServer",
	})
	for _, setting := range []string{"spark.ui.enabled=false", "spark.sql.shuffle.partitions=2", agentOf("driver", sendsAll()),
		"spark.eventLog.enabled=true", "spark.eventLog.dir=" + s.log} {
		line = append(line, "--conf", setting)
	}
	s.cmd = exec.Command(filepath.Join(home, "bin", "spark-submit"), append(line, "spark-internal")...)
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = work, &s.printed, &s.printed
	s.cmd.Env = append(os.Environ(), "SPARK_HOME="+home, "SPARK_LOCAL_IP=127.0.0.1", "SPARK_LOCAL_HOSTNAME=localhost")
	if !slices.Contains(options, longLived) {
		s.cmd.Env = append(s.cmd.Env, shortLived)
	}
	require.NoError(t, s.cmd.Start())
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		if t.Failed() {
			t.Log(s.printed.String())
		}
	})
	return s
}

// call runs clients, and returns what each did: how it names its parent, its session and
// its operation.
func (s *connectServer) call(t *testing.T, operations int, sessions ...string) (done [][]string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rows.json")
	write(t, file, `{"a":1}`+"\n")
	cmd := exec.Command("java", append(append(moduleOptions(), "-XX:TieredStopAtLevel=1", "-cp", s.clients, "connect.Client", "15002",
		fmt.Sprint(operations), file), sessions...)...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(t, err, errs.String())
	for line := range strings.Lines(string(out)) {
		done = append(done, strings.Fields(line))
	}
	return done
}

// stop ends the server as YARN does, and returns once its last telemetry has arrived.
func (s *connectServer) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	_ = s.cmd.Wait() // 143
	testenv.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.final() && (!s.traced || slices.ContainsFunc(s.spans, func(span otlpSpan) bool {
			return span.labels()["spark.kind"] == string(platform.SpanApplication)
		}))
	}, testenv.Answer, 100*time.Millisecond, "the last telemetry")
	s.mu.Lock()
	t.Cleanup(s.mu.Unlock)
}

// Trace contexts of the test's callers.
const (
	byMetadata      = "00-11111111111111111111111111111111-1111111111111111-01"
	byTag           = "00-22222222222222222222222222222222-2222222222222222-01"
	byConfiguration = "00-33333333333333333333333333333333-3333333333333333-01"
)

// Four clients at once, which name the parent of their operations in each way and in none:
// every job is below its own operation, in its caller's trace or its session's. The import
// of the event log makes the same spans.
func TestConnectOperationsAreInTheirCallersTraces(t *testing.T) {
	home, connect := sparkHome(t), sparkConnect().file(t)
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	server := startConnect(t, home, connect, "--conf", traced, "--jars", connect)
	done := server.call(t, 12, "metadata:"+byMetadata, "tag:"+byTag, "configuration:"+byConfiguration, "none:")
	again := server.call(t, 2, "none:") // in threads that served others
	server.stop(t)
	require.NotContains(t, server.printed.String(), "observatory:", "what the plugin could not do")
	server.requireOperations(t, append(done, again...), map[string]string{
		"metadata": byMetadata, "tag": byTag, "configuration": byConfiguration,
	})
	server.requireImport(t)
	require.Equal(t, "observatory.connect.CallInterceptor", server.properties(t)[interceptors])
}

// requireOperations checks that each operation has a span where its caller wanted it, with
// its jobs below, and that there is no other job.
func (s *connectServer) requireOperations(t *testing.T, done [][]string, parents map[string]string) {
	t.Helper()
	byID := s.byID(t)
	operations := map[string]otlpSpan{}
	for _, span := range s.spans {
		if labels := span.labels(); labels["spark.kind"] == string(platform.SpanOperation) {
			id := labels[platform.AttributeConnectOperation]
			if strings.HasPrefix(id, "analysis-") {
				id = "analysis"
			}
			operations[labels[platform.AttributeConnectSession]+" "+id] = span
		}
	}
	require.Len(t, operations, len(done))
	jobs := map[string]int{}
	for _, span := range s.spans {
		if span.labels()["spark.kind"] == string(platform.SpanJob) {
			operation, ok := s.operationOf(t, byID, span)
			require.True(t, ok || s.blind, "%s is in no operation", span.Name)
			jobs[operation.SpanID]++
		}
	}
	for _, d := range done {
		how, session := d[0], d[1]
		span, ok := operations[session+" "+d[2]]
		require.True(t, ok, "%v has no span", d)
		require.Equal(t, "user_of_"+how, span.labels()[platform.AttributeConnectUser])
		parent := parents[how]
		if how == "configuration" && d[2] != "analysis" {
			require.Equal(t, "nightly", span.labels()["airflow.dag_id"])
		}
		if how == "tag" && d[2] == "analysis" {
			parent = "" // these calls have no tags
		}
		if parent == "" {
			top := byID[span.ParentSpanID]
			require.Equal(t, string(platform.SpanSession), top.labels()["spark.kind"], "%v", d)
			require.Equal(t, session, top.labels()[platform.AttributeConnectSession])
			require.Equal(t, top.TraceID, span.TraceID)
			require.Empty(t, top.ParentSpanID)
			require.Len(t, top.Links, 1, "to the server")
		} else {
			want := strings.Split(parent, "-")
			require.Equal(t, want[1], span.TraceID, "%v", d)
			require.Equal(t, want[2], span.ParentSpanID, "%v", d)
			require.Len(t, span.Links, 1, "to the server")
		}
		require.Equal(t, len(d) == 3, jobs[span.SpanID] > 0, "%v: jobs", d)
		require.Equal(t, slices.Contains(d, "failed"), strings.Contains(span.Status.Message, "TABLE_OR_VIEW_NOT_FOUND"), "%v", d)
	}
}

// byID returns the spans by their ids, none of which may be there twice.
func (s *connectServer) byID(t *testing.T) map[string]otlpSpan {
	t.Helper()
	byID := map[string]otlpSpan{}
	for _, span := range s.spans {
		require.NotContains(t, byID, span.SpanID, "%s exists twice", span.Name)
		byID[span.SpanID] = span
	}
	return byID
}

// operationOf returns the operation above a span, in whose trace all are; false if there is
// none.
func (s *connectServer) operationOf(t *testing.T, byID map[string]otlpSpan, span otlpSpan) (operation otlpSpan, ok bool) {
	t.Helper()
	for at := span; ; {
		above, known := byID[at.ParentSpanID]
		kind := above.labels()["spark.kind"]
		switch {
		case !known && len(at.Links) > 0, kind == string(platform.SpanApplication):
			return otlpSpan{}, false
		case !known:
			require.Failf(t, "no parent", "%s: the parent of %s is missing", span.Name, at.Name)
		}
		require.Equal(t, span.TraceID, above.TraceID)
		if kind == string(platform.SpanOperation) {
			return above, true
		}
		at = above
	}
}

// requireImport compares the driver's spans with those of the import of its event log,
// which knows nothing of AnalyzePlan calls but their jobs, and no metadata.
func (s *connectServer) requireImport(t *testing.T) {
	t.Helper()
	var live, imported []string
	elsewhere := s.onlyByMetadata()
	line := func(trace, id, parent, kind string) string {
		return strings.Join([]string{trace, id, parent, kind}, " ")
	}
	for _, span := range s.spans {
		kind := span.labels()["spark.kind"]
		if !elsewhere[span.SpanID] && !elsewhere[span.ParentSpanID] && kind != string(platform.SpanTask) && kind != string(platform.SpanPhase) {
			live = append(live, line(span.TraceID, span.SpanID, span.ParentSpanID, kind))
		}
	}
	engine, builder, jobs := phases.NewEngine(), spans.NewBuilder(), map[int64]platform.ConnectTags{}
	s.readLog(t, func(event eventlog.Event) {
		engine.Add(event)
		builder.Add(event)
		if job, ok := event.(*eventlog.JobStart); ok {
			jobs[job.ID] = platform.ParseConnectTags(job.Properties.Tags, job.Properties.ConnectOperation)
		}
	})
	s.requireJobsBelowTheirOperations(t, jobs)
	for _, resource := range builder.Trace(engine.Result(), nil).Spans {
		for _, span := range resource.ScopeSpans[0].Spans {
			kind, id, parent := attributes(span.Attributes)["spark.kind"], hex.EncodeToString(span.SpanId), hex.EncodeToString(span.ParentSpanId)
			if !elsewhere[id] && !elsewhere[parent] && kind != string(platform.SpanTask) && kind != string(platform.SpanPhase) {
				imported = append(imported, line(hex.EncodeToString(span.TraceId), id, parent, kind))
			}
		}
	}
	slices.SortFunc(live, cmp.Compare)
	slices.SortFunc(imported, cmp.Compare)
	require.Equal(t, live, imported)
}

// onlyByMetadata returns the ids of operations of which no log says where they belong, since
// they ran no job, and of the session in whose trace the import puts them.
func (s *connectServer) onlyByMetadata() map[string]bool {
	jobs, ids := map[string]bool{}, map[string]bool{}
	for _, span := range s.spans {
		if span.labels()["spark.kind"] == string(platform.SpanJob) {
			jobs[span.ParentSpanID] = true
		}
	}
	for _, span := range s.spans { // a job's parent is a SQL execution, or an operation
		if jobs[span.SpanID] {
			jobs[span.ParentSpanID] = true
		}
	}
	for _, span := range s.spans {
		labels := span.labels()
		of := labels[platform.AttributeConnectUser] == "user_of_metadata"
		if of && labels["spark.kind"] == string(platform.SpanOperation) && !jobs[span.SpanID] {
			ids[span.SpanID] = true
			application := span.resource[string(platform.SparkAppID)]
			session := platform.SpanID(application, "", platform.SpanSession, labels[platform.AttributeConnectSession])
			ids[hex.EncodeToString(session[:])] = true
		}
	}
	return ids
}

// requireJobsBelowTheirOperations compares the operation above each job with the one that
// Spark's own tag names, by id.
func (s *connectServer) requireJobsBelowTheirOperations(t *testing.T, jobs map[int64]platform.ConnectTags) {
	t.Helper()
	byID, compared := s.byID(t), 0
	for _, span := range s.spans {
		labels := span.labels()
		if labels["spark.kind"] != string(platform.SpanJob) {
			continue
		}
		id, err := strconv.ParseInt(labels[platform.AttributeJobID], 10, 64)
		require.NoError(t, err)
		operation, ok := s.operationOf(t, byID, span)
		require.True(t, ok)
		of := operation.labels()
		require.Equal(t, jobs[id].Number(), of[platform.AttributeConnectSession]+"."+of[platform.AttributeConnectOperation])
		compared++
	}
	require.Len(t, jobs, compared)
}

// properties returns Spark's properties from the server's event log.
func (s *connectServer) properties(t *testing.T) map[string]string {
	t.Helper()
	var properties map[string]string
	s.readLog(t, func(event eventlog.Event) {
		if update, ok := event.(*eventlog.EnvironmentUpdate); ok {
			properties = maps.Clone(update.Spark)
		}
	})
	require.NotEmpty(t, properties)
	return properties
}

// readLog passes on the events of the server's log.
func (s *connectServer) readLog(t *testing.T, take func(eventlog.Event)) {
	t.Helper()
	logs, err := eventlog.Find(os.DirFS(s.log), ".")
	require.NoError(t, err)
	require.Len(t, logs, 1)
	_, err = logs[0].Read(t.Context(), func(event eventlog.Event) error {
		take(event)
		return nil
	})
	require.NoError(t, err)
}

const interceptors = "spark.connect.grpc.interceptor.classes"

// The driver and the import read the same out of a job's tags.
func TestPluginAndImportReadTheSameTags(t *testing.T) {
	const session, operation = "0a1b2c3d-0000-4000-8000-00000000000a", "0A1B2C3D-1111-4111-8111-11111111111B"
	of := "SparkConnect_OperationTag_User_a_Session_b_Session_" + session + "_Operation_" + operation
	parent := "SparkConnect_SessionTag_User__Session_" + session + "_Tag_traceparent=" + byTag
	var lines, want []string
	for _, job := range [][2]string{
		{"", ""}, {of, ""}, {parent + "," + of, ""}, {"traceparent=" + byTag, ""}, {"SparkConnect_OperationTag_User_u_Session_1_Operation_2", ""},
		{of, session + ".analysis-7"}, {"mine", session + ".analysis-7"}, {"", "analysis-7"}, {of + "x", ""},
	} {
		tags := platform.ParseConnectTags(job[0], job[1])
		lines = append(lines, job[0]+"\t"+job[1])
		want = append(want, cmp.Or(tags.Number(), "null")+" "+cmp.Or(tags.Parent, "null"))
	}
	file := filepath.Join(t.TempDir(), "jobs")
	write(t, file, strings.Join(lines, "\n"))
	require.Equal(t, want, strings.Split(strings.TrimSpace(pluginMain(t, "ConnectTable", file)), "\n"))
}

// A server starts and serves whatever becomes of the interceptor; without it only what
// metadata says is lost.
func TestConnectServersWithAndWithoutTheInterceptor(t *testing.T) {
	testenv.RequireLong(t, "TestConnectOperationsAreInTheirCallersTraces has a server with --jars and the interceptor")
	home, connect := sparkHome(t), sparkConnect().file(t)
	if !onMachine(t) {
		return
	}
	const lost = "observatory: trace contexts in calls of Spark Connect are not read"
	clients := []string{"metadata:" + byMetadata, "tag:" + byTag, "configuration:" + byConfiguration, "none:"}
	byOthers := map[string]string{"tag": byTag, "configuration": byConfiguration}
	all := map[string]string{"metadata": byMetadata, "tag": byTag, "configuration": byConfiguration}
	jars := []string{"--conf", traced, "--jars", connect}
	for name, c := range map[string]struct {
		install func()
		options []string
		said    int
		parents map[string]string
	}{
		"on the class path": {func() {}, []string{"--conf", traced, "--conf", "spark.driver.extraClassPath=" + connect}, 0, all},
		"damaged":           {func() { write(t, platform.NodeConnectJar, "PK no jar") }, jars, 1, byOthers},
		"absent":            {func() { require.NoError(t, os.Remove(platform.NodeConnectJar)) }, jars, 1, byOthers},
		"of another class":  {func() { classJar(t, platform.NodeConnectJar, "another.Interceptor", "") }, jars, 1, byOthers},
	} {
		t.Run(name, func(t *testing.T) {
			installLauncher(t)
			c.install()
			server := startConnect(t, home, connect, c.options...)
			done := server.call(t, 3, clients...)
			server.stop(t)
			require.Equal(t, c.said, strings.Count(server.printed.String(), lost))
			require.Equal(t, c.said, strings.Count(server.printed.String(), "observatory:"))
			if server.blind = c.said > 0; server.blind {
				done = slices.DeleteFunc(done, func(d []string) bool { return d[2] == "analysis" })
			}
			server.requireOperations(t, done, c.parents)
		})
	}
}

// A server of Spark 4 makes the same spans: its classes have other descriptors (Scala 2.13).
func TestConnectServerOfSpark4(t *testing.T) {
	testenv.RequireLong(t, "TestConnectOperationsAreInTheirCallersTraces has a server of Spark 3.5, "+
		"TestPluginFindsWhatItReadsInOtherSparks what the plugin reads of Spark 4")
	home, jars, connect := sparkHome(t), sparktest.Spark4Jars(t), sparkConnect4().file(t)
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	home4 := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(home, "bin"), filepath.Join(home4, "bin")))
	require.NoError(t, os.Symlink(jars, filepath.Join(home4, "jars")))
	server := startConnect(t, home4, connect, "--conf", traced, "--jars", connect)
	done := server.call(t, 3, "metadata:"+byMetadata, "tag:"+byTag, "configuration:"+byConfiguration, "none:")
	server.stop(t)
	require.NotContains(t, server.printed.String(), "observatory:", "what the plugin could not do")
	server.requireOperations(t, done, map[string]string{"metadata": byMetadata, "tag": byTag, "configuration": byConfiguration})
	server.requireImport(t)
}

// With tracing switched off nothing of it is in the server, which observes all the same.
func TestConnectServerWithoutTracing(t *testing.T) {
	testenv.RequireLong(t, "the plugin's own test switches tracing off; the interceptor is installed by the code that makes spans")
	home, connect := sparkHome(t), sparkConnect().file(t)
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	server := startConnect(t, home, connect, "--jars", connect)
	server.call(t, 2, "metadata:"+byMetadata, "none:")
	server.stop(t)
	require.Empty(t, server.spans)
	require.NotContains(t, server.properties(t), interceptors)
}

// A call leaves the local properties of its thread as they were, and what the client sends is
// looked at before it is kept.
func TestCallsOfConnectLeaveTheirThreadAsItWas(t *testing.T) {
	const in, own = "in " + byMetadata, "own own"
	require.Equal(t, strings.Join([]string{
		in + " null", "after null null", in + " session.analysis-1", "after null null", "in null null", "after null null",
		"without null session.analysis-2",
		in + " null", "after " + own, in + " session.analysis-3", "after " + own, "in " + own, "after " + own,
		"without null session.analysis-4", "told " + byMetadata + " null", "",
	}, "\n"), pluginMain(t, "Calls"))
}

// The plugin keeps nothing of sessions that have ended but the engine's limits of them.
func TestPluginForgetsSessionsOfConnect(t *testing.T) {
	var spans, grown int
	_, err := fmt.Sscan(pluginMain(t, "Sessions"), &spans, &grown)
	require.NoError(t, err)
	require.Equal(t, 1000*(1+60*2), spans, "of sessions, operations and jobs")
	t.Logf("the heap has grown by %d KiB", grown>>10)
	require.Less(t, grown, 2<<20)
}

// Fifty sessions at once, most of them in one caller's trace, which thereby is full; then
// five minutes in which nobody asks for anything.
func TestConnectServerOfThousandsOfOperations(t *testing.T) {
	testenv.RequireLong(t, "TestConnectOperationsAreInTheirCallersTraces has four sessions, TestGoldenLogs the idle time, "+
		"TestPluginForgetsSessionsOfConnect the memory")
	home, connect := sparkHome(t), sparkConnect().file(t)
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	server := startConnect(t, home, connect, "--conf", traced, "--conf", longLived, "--jars", connect)
	clients := slices.Concat(slices.Repeat([]string{"metadata:" + byMetadata}, 40), slices.Repeat([]string{"none:"}, 10))
	done := server.call(t, 60, clients...)
	require.Len(t, done, 50*63)
	const idle = 5 * time.Minute
	time.Sleep(idle) // what is measured
	server.stop(t)
	require.NotContains(t, server.printed.String(), "observatory:", "what the plugin could not do")

	byID, traces := server.byID(t), map[string]int{}
	var application map[string]string
	for _, span := range server.spans {
		traces[span.TraceID]++
		if labels := span.labels(); labels["spark.kind"] == string(platform.SpanApplication) {
			application = labels
		}
	}
	sessions := 0
	for _, span := range server.spans {
		if labels := span.labels(); labels["spark.kind"] == string(platform.SpanJob) {
			_, ok := server.operationOf(t, byID, span)
			require.True(t, ok, "%s is in no operation", span.Name)
		} else if labels["spark.kind"] == string(platform.SpanSession) {
			sessions++
		}
	}
	require.Equal(t, 10, sessions)
	for trace, spans := range traces {
		require.LessOrEqual(t, spans, platform.SpanBudget, trace)
	}
	idleSeconds, err := strconv.ParseFloat(application[platform.AttributePhaseSeconds(platform.PhaseIdle)], 64)
	require.NoError(t, err)
	require.GreaterOrEqual(t, idleSeconds, idle.Seconds())
	dropped, err := strconv.Atoi(application[platform.SpansDropped])
	require.NoError(t, err)
	t.Logf("spans by trace: %v, dropped %d, idle %.0f s", slices.Sorted(maps.Values(traces)), dropped, idleSeconds)
	require.Positive(t, dropped)
}
