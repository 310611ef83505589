package node_test

import (
	"compress/gzip"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	profilerClass = "one.profiler.AsyncProfiler"
	// Prints its commands, and writes the number of the recording instead of samples.
	countingProfiler = `static int recordings;
public static AsyncProfiler getInstance() { return new AsyncProfiler(); }
public String execute(String command) throws Exception {
  String[] parts = command.split(",file=");
  System.out.println(parts[0]);
  if (parts.length > 1) java.nio.file.Files.write(java.nio.file.Paths.get(parts[1]), ("recording " + ++recordings).getBytes());
  return "";
}`
	// Uses CPU until there is input, and then long enough that the last recording has
	// samples of it even on a busy machine.
	burningMain = `static double x;
static void burnInHere() { for (int i = 0; i < 1000000; i++) x += Math.sqrt(x + i); }
public static void main(String[] a) throws Exception {
  while (System.in.available() == 0) burnInHere();
  java.lang.management.ThreadMXBean cpu = java.lang.management.ManagementFactory.getThreadMXBean();
  for (long begun = cpu.getCurrentThreadCpuTime(); cpu.getCurrentThreadCpuTime() - begun < 200_000_000L;) burnInHere();
}`
)

// sentProfile is one request to /ingest.
type sentProfile struct {
	name, jfr   string
	from, until time.Time
}

// startPyroscope starts a fake Pyroscope. answers are the statuses of the nth
// requests, 200 by default. The profiles that it accepts are in the channel.
func startPyroscope(t *testing.T, answers map[int]int) chan sentProfile {
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

// nextProfile waits for the next profile that Pyroscope accepts.
func nextProfile(t *testing.T, sent chan sentProfile) sentProfile {
	t.Helper()
	select {
	case p := <-sent:
		return p
	case <-time.After(testenv.Start.Scaled()):
		require.FailNow(t, "no profile arrived")
		return sentProfile{}
	}
}

// profileAtExit runs a JVM that sends a profile at its end, and returns that with what
// the JVM printed.
func profileAtExit(t *testing.T, sent chan sentProfile, run func() (stdout, stderr string)) (p sentProfile, stdout, stderr string) {
	t.Helper()
	stdout, stderr = run()
	return nextProfile(t, sent), stdout, stderr
}

// readProfile decodes an upload as Pyroscope does.
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

// A job may have its profiles sent to a server behind TLS, which must prove its name.
func TestProfilesGoToAServerBehindTLS(t *testing.T) {
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	acceptTelemetry(t)
	sent := make(chan sentProfile, 10)
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		p, err := readProfile(r)
		if err != nil {
			t.Error(err)
		}
		sent <- p
	}))
	t.Cleanup(server.Close)
	authority, store := filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "trusted.p12")
	write(t, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	printed, err := exec.Command("keytool", "-importcert", "-noprompt", "-file", authority, "-keystore", store,
		"-storepass", "changeit").CombinedOutput()
	require.NoError(t, err, string(printed))
	classes := compileJava(t, map[string]string{executorMain: burningMain})
	start := func(url string) runningJVM {
		return startJVM(t, classes, "", "-Dpyroscope.server.address="+url, "-Djavax.net.ssl.trustStore="+store,
			"-Djavax.net.ssl.trustStorePassword=changeit")
	}
	wrong, right := start(strings.Replace(server.URL, "127.0.0.1", "localhost", 1)), start(server.URL)
	require.Equal(t, "recording 1", nextProfile(t, sent).jfr)
	out, _ := wrong.end(t)
	require.Contains(t, out, "observatory: profile not sent: javax.net.ssl.SSLHandshakeException", "the certificate is of the address")
	out, _ = right.end(t)
	require.NotContains(t, out, "observatory:")
}

// installProfiler installs the real profiler on the node.
func installProfiler(t *testing.T) {
	t.Helper()
	jar, err := os.ReadFile(lockedFile(t, platform.ArtifactProfiler))
	require.NoError(t, err)
	write(t, platform.NodeProfilerJar, string(jar))
}

func TestProfilesReachControlNode(t *testing.T) {
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	installProfiler(t)
	acceptTelemetry(t)
	profiles := startPyroscope(t, nil)
	begin := time.Now().Truncate(time.Millisecond)
	recordings := t.TempDir()
	classes := compileJava(t, map[string]string{executorMain: burningMain})
	var first sentProfile
	last, out, _ := profileAtExit(t, profiles, func() (stdout, stderr string) {
		java := startJVM(t, classes, "", "-Djava.io.tmpdir="+recordings, "-Dpassword=canary-of-a-job")
		first = nextProfile(t, profiles)
		both, _ := java.end(t)
		return both, ""
	})
	got := []sentProfile{first, last}
	for len(profiles) > 0 { // a third interval has begun
		got = append(got, <-profiles)
	}
	require.Empty(t, out, "the profiler prints nothing")
	left, err := os.ReadDir(recordings)
	require.NoError(t, err)
	require.Empty(t, left)
	for i, p := range got {
		require.True(t, strings.HasPrefix(p.name, "spark-executor{"), p.name)
		for _, label := range []string{"spark_app_id=application_1_0001", "spark_executor_id=3", "host_name=" + nodeHost, "node_role=core",
			"cluster=j-ABC123"} {
			require.Contains(t, p.name, label)
		}
		require.True(t, strings.HasPrefix(p.jfr, "FLR\x00"), "a recording of the JDK Flight Recorder")
		if i < 2 { // main may have returned before a third one
			require.Contains(t, p.jfr, "burnInHere", "no samples from %s to %s in %d bytes", p.from, p.until, len(p.jfr))
		}
		require.NotContains(t, p.jfr, "canary-of-a-job", "the recording contains the command line")
		require.False(t, p.from.Before(begin))
		require.False(t, p.until.Before(p.from))
		if i > 0 {
			require.False(t, p.from.Before(got[i-1].until), "the recordings overlap")
			require.Less(t, p.from.Sub(got[i-1].until), 2*time.Second, "a gap between the recordings")
		}
	}
	require.InDelta(t, platform.CollectionInterval.Seconds(), first.until.Sub(first.from).Seconds(), 5)
}

func TestProfilesSurviveServerFailures(t *testing.T) {
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	acceptTelemetry(t)

	t.Run("Pyroscope is down", func(t *testing.T) {
		classes := compileJava(t, map[string]string{executorMain: waitMain})
		begin := time.Now()
		out, errs := runJVM(t, classes, nil, executorMain, nil, "--executor-id", "3")
		require.Less(t, time.Since(begin), exitBound.Scaled())
		require.Contains(t, out, "main ran\nstop,loglevel=none\n")
		require.Equal(t, 1, strings.Count(errs, "\n"), errs)
		require.Contains(t, errs, "observatory: profile not sent: java.net.")
	})
	t.Run("a missing response delays the exit by two seconds", func(t *testing.T) {
		listener, err := net.Listen("tcp", fmt.Sprintf("%s:%d", controlIP, platform.Pyroscope))
		require.NoError(t, err)
		defer func() { require.NoError(t, listener.Close()) }()
		recordings := t.TempDir()
		classes, begin := compileJava(t, map[string]string{executorMain: waitMain}), time.Now()
		out, _ := runJVM(t, classes, nil, executorMain, []string{exitsSoon(), "-Djava.io.tmpdir=" + recordings}, "--executor-id", "3")
		require.Less(t, time.Since(begin), exitBound.Scaled())
		require.Contains(t, out, "stop,loglevel=none\n")
		left, err := os.ReadDir(recordings)
		require.NoError(t, err)
		require.Empty(t, left)
	})
	t.Run("a profile is sent again after status 422", func(t *testing.T) {
		profiles := startPyroscope(t, map[int]int{1: http.StatusUnprocessableEntity})
		java := startJVM(t, compileJava(t, map[string]string{executorMain: burningMain}), "")
		require.Equal(t, "recording 1", nextProfile(t, profiles).jfr)
		java.end(t)
	})
	t.Run("a profile is sent again after status 503, but not after 400", func(t *testing.T) {
		profiles := startPyroscope(t, map[int]int{1: http.StatusServiceUnavailable, 3: http.StatusBadRequest})
		java := startJVM(t, compileJava(t, map[string]string{executorMain: burningMain}), "")
		// The second request, after the interval in which the first failed.
		require.Equal(t, "recording 1", nextProfile(t, profiles).jfr)
		require.Equal(t, "recording 3", nextProfile(t, profiles).jfr)
		java.end(t)
		for i := 4; len(profiles) > 0; i++ { // further intervals have begun
			require.Equal(t, fmt.Sprint("recording ", i), (<-profiles).jfr)
		}
	})
}

func TestProfilerRecoversFromFailure(t *testing.T) {
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	acceptTelemetry(t)
	profiles := startPyroscope(t, nil)
	// The first recording cannot be stopped, as on a full disk.
	classJar(t, platform.NodeProfilerJar, profilerClass, strings.Replace(countingProfiler, "String[] parts",
		`if (command.startsWith("stop") && recordings == 1) throw new IllegalStateException("no space"); String[] parts`, 1))
	java := startJVM(t, compileJava(t, map[string]string{executorMain: burningMain}), "")
	first := nextProfile(t, profiles)
	out, _ := java.end(t)
	require.Equal(t, "recording 2", first.jfr)
	require.Contains(t, out, "observatory: profile not sent: java.lang.IllegalStateException: no space")
}

func TestCPUProfileWithoutAllocationSamples(t *testing.T) {
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	acceptTelemetry(t)
	profiles := startPyroscope(t, nil)
	classJar(t, platform.NodeProfilerJar, profilerClass, strings.Replace(countingProfiler, "String[] parts",
		`if (command.contains("alloc=")) throw new IllegalStateException("No AllocTracer symbols found"); String[] parts`, 1))
	classes := compileJava(t, map[string]string{executorMain: waitMain})
	profile, out, errs := profileAtExit(t, profiles, func() (stdout, stderr string) {
		return runJVM(t, classes, nil, executorMain, nil, "--executor-id", "3")
	})
	require.Contains(t, out, "start,event=itimer,interval=10ms,lock=10ms,loglevel=none,jfr,")
	require.Equal(t, "observatory: allocations not profiled: java.lang.IllegalStateException: No AllocTracer symbols found\n", errs)
	require.Equal(t, "recording 1", profile.jfr)
}
