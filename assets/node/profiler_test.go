package node_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	profilerClass = "one.profiler.AsyncProfiler"
	// Prints its commands, and records which recording this is.
	countingProfiler = `static int recordings;
public static AsyncProfiler getInstance() { return new AsyncProfiler(); }
public String execute(String command) throws Exception {
  String[] parts = command.split(",file=");
  System.out.println(parts[0]);
  if (parts.length > 1) java.nio.file.Files.write(java.nio.file.Paths.get(parts[1]), ("recording " + ++recordings).getBytes());
  return "";
}`
	// Burns CPU until it is told to end, and then enough that the last recording
	// has samples of it on a busy machine too.
	burningMain = `static double x;
static void burnInHere() { for (int i = 0; i < 1000000; i++) x += Math.sqrt(x + i); }
public static void main(String[] a) throws Exception {
  while (System.in.available() == 0) burnInHere();
  java.lang.management.ThreadMXBean cpu = java.lang.management.ManagementFactory.getThreadMXBean();
  for (long begun = cpu.getCurrentThreadCpuTime(); cpu.getCurrentThreadCpuTime() - begun < 500_000_000L;) burnInHere();
}`
)

// sentProfile is one request to /ingest.
type sentProfile struct {
	name, jfr   string
	from, until time.Time
}

// startProfiles stands in for Pyroscope; answers are the statuses of the nth
// requests, 200 where there is none. What it took is in the channel.
func startProfiles(t *testing.T, answers map[int]int) chan sentProfile {
	t.Helper()
	sent, n := make(chan sentProfile, 100), 0
	listener, err := net.Listen("tcp", fmt.Sprintf("%s:%d", controlIP, platform.Pyroscope))
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := readProfile(r)
		if err != nil {
			t.Error(err)
		}
		if n++; answers[n] != 0 {
			w.WriteHeader(answers[n])
			return
		}
		sent <- p
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return sent
}

// next waits for what Pyroscope takes next.
func next(t *testing.T, sent chan sentProfile) sentProfile {
	t.Helper()
	select {
	case p := <-sent:
		return p
	case <-time.After(time.Minute):
		require.FailNow(t, "no profile arrived")
		return sentProfile{}
	}
}

func readProfile(r *http.Request) (sentProfile, error) {
	q := r.URL.Query()
	if r.URL.Path != "/ingest" || q.Get("format") != "jfr" || q.Get("sampleRate") != "100" {
		return sentProfile{}, fmt.Errorf("not an upload of a recording: %s", r.URL)
	}
	file, _, err := r.FormFile("jfr")
	if err != nil {
		return sentProfile{}, err
	}
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return sentProfile{}, err
	}
	jfr, err := io.ReadAll(unzipped)
	if err != nil {
		return sentProfile{}, err
	}
	millis := func(key string) time.Time {
		v, _ := strconv.ParseInt(q.Get(key), 10, 64)
		return time.UnixMilli(v)
	}
	return sentProfile{name: q.Get("name"), jfr: string(jfr), from: millis("from"), until: millis("until")}, nil
}

// layProfiler puts the real profiler onto the node.
func layProfiler(t *testing.T) {
	t.Helper()
	jar, err := os.ReadFile(lockedFile(t, platform.ArtifactProfiler))
	require.NoError(t, err)
	write(t, platform.NodeProfilerJar, string(jar))
}

func TestProfilesReachTheControlNode(t *testing.T) {
	if !onMachine(t) {
		return
	}
	layNode(t)
	layProfiler(t)
	acceptTelemetry(t)
	profiles := startProfiles(t, nil)
	begin := time.Now().Truncate(time.Millisecond)
	recordings := t.TempDir()
	java := startJVM(t, javaClasses(t, map[string]string{executorMain: burningMain}), "", "-Djava.io.tmpdir="+recordings, "-Dpassword=canary-of-a-job")
	first := next(t, profiles)
	out, _ := java.end(t)
	last := next(t, profiles)
	require.Empty(t, out, "what the application prints is its own")
	left, err := os.ReadDir(recordings)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Empty(t, profiles)
	for _, p := range []sentProfile{first, last} {
		require.True(t, strings.HasPrefix(p.name, "spark-executor{"), p.name)
		for _, label := range []string{"spark_app_id=application_1_0001", "spark_executor_id=3", "host_name=" + nodeHost, "node_role=core", "cluster=j-ABC123"} {
			require.Contains(t, p.name, label)
		}
		require.True(t, strings.HasPrefix(p.jfr, "FLR\x00"), "a recording of the JDK Flight Recorder")
		require.True(t, strings.Contains(p.jfr, "burnInHere"), "what burned CPU from %s to %s is in %d bytes", p.from, p.until, len(p.jfr))
		require.False(t, strings.Contains(p.jfr, "canary-of-a-job"), "the command line is not")
		require.False(t, p.from.Before(begin))
		require.False(t, p.until.Before(p.from))
	}
	require.InDelta(t, platform.CollectionInterval.Seconds(), first.until.Sub(first.from).Seconds(), 5)
	require.False(t, last.from.Before(first.until), "one after the other")
	require.Less(t, last.from.Sub(first.until), 2*time.Second, "with nothing between them")
}

func TestProfilesOutliveTheirServersTroubles(t *testing.T) {
	if !onMachine(t) {
		return
	}
	layNode(t)
	acceptTelemetry(t)

	t.Run("nobody answers", func(t *testing.T) {
		begin := time.Now()
		out, errs := jvm(t, javaClasses(t, map[string]string{executorMain: waitMain}), nil, executorMain, nil, "--executor-id", "3")
		require.Less(t, time.Since(begin), 10*time.Second)
		require.Contains(t, out, "main ran\nstop,loglevel=none\n")
		require.Equal(t, 1, strings.Count(errs, "\n"), errs)
		require.Contains(t, errs, "observatory: profile not sent: java.net.")
	})
	t.Run("an answer that does not come holds the end up for two seconds", func(t *testing.T) {
		listener, err := net.Listen("tcp", fmt.Sprintf("%s:%d", controlIP, platform.Pyroscope))
		require.NoError(t, err)
		defer func() { require.NoError(t, listener.Close()) }()
		recordings := t.TempDir()
		begin := time.Now()
		out, _ := jvm(t, javaClasses(t, map[string]string{executorMain: waitMain}), nil, executorMain, []string{"-Djava.io.tmpdir=" + recordings}, "--executor-id", "3")
		require.Less(t, time.Since(begin), 10*time.Second)
		require.Contains(t, out, "stop,loglevel=none\n")
		left, err := os.ReadDir(recordings)
		require.NoError(t, err)
		require.Empty(t, left)
	})
	t.Run("what Pyroscope cannot take yet is sent again", func(t *testing.T) {
		profiles := startProfiles(t, map[int]int{1: http.StatusUnprocessableEntity})
		java := startJVM(t, javaClasses(t, map[string]string{executorMain: burningMain}), "")
		require.Equal(t, "recording 1", next(t, profiles).jfr)
		java.end(t)
	})
	t.Run("what is not taken now is sent later, what is refused is not", func(t *testing.T) {
		profiles := startProfiles(t, map[int]int{1: http.StatusServiceUnavailable, 3: http.StatusBadRequest})
		java := startJVM(t, javaClasses(t, map[string]string{executorMain: burningMain}), "")
		first := next(t, profiles) // the second request, after the interval in which the first failed
		java.end(t)
		require.Equal(t, "recording 1", first.jfr)
		require.Equal(t, "recording 3", next(t, profiles).jfr)
		require.Empty(t, profiles)
	})
}

func TestProfilerRecordsAgainAfterAFault(t *testing.T) {
	if !onMachine(t) {
		return
	}
	layNode(t)
	acceptTelemetry(t)
	profiles := startProfiles(t, nil)
	// The first recording cannot be ended, as on a full disk.
	classJar(t, platform.NodeProfilerJar, profilerClass, strings.Replace(countingProfiler, "String[] parts",
		`if (command.startsWith("stop") && recordings == 1) throw new IllegalStateException("no space"); String[] parts`, 1))
	java := startJVM(t, javaClasses(t, map[string]string{executorMain: burningMain}), "")
	first := next(t, profiles)
	out, _ := java.end(t)
	require.Equal(t, "recording 2", first.jfr)
	require.Contains(t, out, "observatory: profile not sent: java.lang.IllegalStateException: no space")
}

func TestJVMWithoutAllocationSamplesStillTellsItsCPUTime(t *testing.T) {
	if !onMachine(t) {
		return
	}
	layNode(t)
	acceptTelemetry(t)
	profiles := startProfiles(t, nil)
	classJar(t, platform.NodeProfilerJar, profilerClass, strings.Replace(countingProfiler, "String[] parts",
		`if (command.contains("alloc=")) throw new IllegalStateException("No AllocTracer symbols found"); String[] parts`, 1))
	out, errs := jvm(t, javaClasses(t, map[string]string{executorMain: waitMain}), nil, executorMain, nil, "--executor-id", "3")
	require.Contains(t, out, "start,event=itimer,interval=10ms,lock=10ms,loglevel=none,jfr,")
	require.Equal(t, "observatory: allocations not profiled: java.lang.IllegalStateException: No AllocTracer symbols found\n", errs)
	require.Equal(t, "recording 1", next(t, profiles).jfr)
}
