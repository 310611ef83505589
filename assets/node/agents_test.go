package node_test

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// callingMain asks a server in a task and in the driver, as long as it says so: an
// OpenTelemetry agent makes a span of each request.
const callingMain = `static int ask(String url) throws Exception {
  java.net.HttpURLConnection c = (java.net.HttpURLConnection) new java.net.URL(url).openConnection();
  int status = c.getResponseCode();
  c.disconnect();
  return status; }
public static void main(String[] a) throws Exception {
  org.apache.spark.sql.SparkSession spark = org.apache.spark.sql.SparkSession.builder().getOrCreate();
  String server = a[0];
  long sum = (Long) spark.range(0, 1000, 1, 2).selectExpr("sum(id)").collectAsList().get(0).get(0);
  spark.range(0, 1, 1, 1).foreach((org.apache.spark.api.java.function.ForeachFunction<Long>)
     x -> { while (ask(server + "/from-a-task") != 200) Thread.sleep(100); });
  while (ask(server + "/from-the-driver") != 200) Thread.sleep(100);
  System.out.println("sum " + sum + " of " + spark.sparkContext().applicationId());
  System.out.println("job ends " + System.currentTimeMillis());
  spark.stop();
}`

// teamServer is the job's own Pyroscope, and what the job asks. It lets each part of
// the job go on once that JVM's agent has sent a profile.
type teamServer struct {
	mu       sync.Mutex
	profiles map[string]int // by application name, of the agent
}

func (s *teamServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.URL.Path {
	case "/from-a-task":
		s.answer(w, "team-executor")
	case "/from-the-driver":
		s.answer(w, "team-driver")
	case "/ingest":
		s.profiles[strings.SplitN(r.URL.Query().Get("name"), "{", 2)[0]]++
	}
}

func (s *teamServer) answer(w http.ResponseWriter, name string) {
	if s.profiles[name] < 2 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// A job may bring the stock agents of OpenTelemetry and Pyroscope in options of its
// own. OpenTelemetry's sends to the node's collector by default (port 4318 of
// localhost); Pyroscope's sends where the job says, and is the JVM's only profiler: two
// would take each other's signals.
func TestJobWithStockAgents(t *testing.T) {
	testenv.RequireLong(t, "agents that a job brings along are its own; TestReplacedSparkPropertiesDoNotBreakAJob replaces ours in every run")
	home, telemetry, profiler := sparkHome(t), openTelemetryAgent().file(t), pyroscopeAgent().file(t)
	if !onMachine(t) {
		return
	}
	s, profiles := startNode(t)
	installProfiler(t)
	team := &teamServer{profiles: map[string]int{}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: team}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	url := "http://" + listener.Addr().String()
	options := func(process string) string {
		return "spark." + process + ".extraJavaOptions=-javaagent:" + telemetry + " -Dotel.service.name=team-" + process +
			" -javaagent:" + profiler + " -Dpyroscope.application.name=team-" + process + " -Dpyroscope.server.address=" + url +
			" -Dpyroscope.upload.interval=1s -Dpyroscope.format=jfr"
	}
	classes := compileJavaAgainst(t, ":"+filepath.Join(home, "jars", "*"), map[string]string{"Job": callingMain})
	job := filepath.Join(t.TempDir(), "job.jar")
	jar(t, job, classes)
	out, _ := submit(t, home, job, twoProcesses, url, agentOf("driver"), agentOf("executor"), options("driver"), options("executor"),
		platform.SparkSamplingRatio+"=1")

	require.Equal(t, 2, strings.Count(out, "observatory:"), out)
	require.Equal(t, 2, strings.Count(out, "observatory: profiler not started: this JVM has Pyroscope's agent\n"), out)
	require.Empty(t, profiles, "of the launcher's profiler")
	application := applicationsOf(out, 1)[0]
	for process, path := range map[string]string{"driver": "/from-the-driver", "executor": "/from-a-task"} {
		span := s.span(t, "of the request "+path, func(r spanRow) bool { return r.attributes["url.full"] == url+path })
		require.Equal(t, hostLabels.with("service.name", "team-"+process), span.resource)
		s.span(t, "of the platform, of the "+process, func(r spanRow) bool {
			return r.resource["service.name"] == "spark-"+process && r.resource["spark.app.id"] == application
		})
		s.metric(t, "jvm.class.count", func(r metricRow) bool { return r.resource["service.name"] == "spark-"+process })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range s.spans {
		require.NotContains(t, row.attributes["url.full"], fmt.Sprintf(":%d/", platform.OTLPHTTP), "a request of the launcher's")
		require.NotContains(t, row.attributes["thread.name"], "observatory", "a request of the launcher's")
	}
}
