// Package history_test compares what Spark's own history server says of applications
// with what their event logs say: rows of package fold from both. The applications are
// real, and so is the server.
package history_test

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/emr-observatory/emr-observatory/internal/sparktest"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

//go:embed testdata/job.py
var jobScript []byte

// shortLived keeps JVMs that live for seconds from spending most of their CPU on
// compiling themselves.
const shortLived = "JAVA_TOOL_OPTIONS=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

// twoExecutors is a master with executors in JVMs of their own.
const twoExecutors = "local-cluster[2,1,512]"

// application is one run of job.py.
type application struct {
	mode, master string
	conf         []string
	killed       bool // the driver dies
}

// all lists the applications of the tests.
func all() []application {
	return []application{
		{mode: "mixed", master: twoExecutors, conf: []string{"spark.executor.memory=512m", "spark.executor.processTreeMetrics.enabled=true",
			"spark.eventLog.logStageExecutorMetrics=true", "spark.observatory.link=https://user:" + canary + "@host/?token=" + canary}},
		{mode: "lost", master: twoExecutors, conf: []string{"spark.executor.memory=512m", "spark.excludeOnFailure.enabled=true",
			"spark.excludeOnFailure.task.maxTaskAttemptsPerNode=3"}},
		{mode: "killed", master: "local[2]", killed: true},
		{mode: "streaming", master: "local[2]", conf: []string{"spark.sql.shuffle.partitions=3"}},
		{mode: "again", master: "local[2]"},
		{mode: "many", master: "local[2]", conf: []string{"spark.eventLog.rolling.enabled=true", "spark.eventLog.compress=true"}},
	}
}

// run is what all tests share: the logs of the applications, once they have ended.
type run struct {
	tree   string // Spark
	java   string // JAVA_HOME
	dir    string
	events string // folder of event logs
}

// newRun returns a run in scratch, of no application yet.
func newRun() (*run, error) {
	tree, err := applications.Fetch(context.Background(), nil)
	if err != nil {
		return nil, err
	}
	r := &run{tree: tree, java: filepath.Join(scratch, "java"), dir: scratch, events: filepath.Join(scratch, "events")}
	return r, errors.Join(os.RemoveAll(r.java), sparktest.WriteJavaHome(context.Background(), tree, r.java))
}

var theRun = sync.OnceValues(func() (*run, error) {
	r, err := newRun()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(r.events); err == nil {
		return r, nil // kept from another run
	}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	// Applications with executors run one after the other, beside the rest: each has a
	// standalone master of its own, which makes the application's id of the second.
	queues := map[bool][]application{}
	for _, a := range all() {
		queues[a.master == twoExecutors] = append(queues[a.master == twoExecutors], a)
	}
	done := make(chan error)
	for _, queue := range queues {
		go func() {
			for _, a := range queue {
				done <- r.submit(a)
			}
		}()
	}
	for range all() {
		if e := <-done; e != nil && err == nil {
			err = e
		}
	}
	return r, err
})

// scratch is removed after the tests, unless OBSERVATORY_KEPT_STATE names it.
var scratch string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		if scratch = os.Getenv("OBSERVATORY_KEPT_STATE"); scratch != "" {
			return m.Run()
		}
		dir, err := os.MkdirTemp("", "history-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		scratch = dir
		defer os.RemoveAll(dir)
		return m.Run()
	}())
}

// prepare makes a SPARK_HOME of its own: executors of a local cluster write there.
func (r *run) prepare() error {
	for _, folder := range []string{"events", "home", "conf"} {
		if err := os.MkdirAll(filepath.Join(r.dir, folder), 0o755); err != nil {
			return err
		}
	}
	for _, folder := range []string{"bin", "jars", "python"} {
		if err := os.Symlink(filepath.Join(r.tree, "spark", folder), filepath.Join(r.dir, "home", folder)); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(r.dir, "job.py"), jobScript, 0o644)
}

// submit runs an application to its end.
func (r *run) submit(a application) error {
	work := filepath.Join(r.dir, "work", a.mode)
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	line := []string{"--master", a.master, "--conf", "spark.ui.enabled=false", "--conf", "spark.eventLog.enabled=true",
		"--conf", "spark.eventLog.dir=file://" + r.events}
	for _, c := range a.conf {
		line = append(line, "--conf", c)
	}
	cmd := exec.Command(filepath.Join(r.dir, "home/bin/spark-submit"), append(line, filepath.Join(r.dir, "job.py"), a.mode, work)...)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "SPARK_HOME="+filepath.Join(r.dir, "home"), "SPARK_CONF_DIR="+filepath.Join(r.dir, "conf"),
		"SPARK_LOCAL_IP=127.0.0.1", "SPARK_LOCAL_DIRS="+work, "PYSPARK_PYTHON=python3", "JAVA_HOME="+r.java, shortLived)
	out, err := cmd.CombinedOutput()
	if err != nil && !a.killed {
		lines := strings.Split(string(bytes.TrimSpace(out)), "\n")
		return fmt.Errorf("%s: %w\n%s", a.mode, err, strings.Join(lines[max(0, len(lines)-40):], "\n"))
	}
	return nil
}

// everyLog fills a folder with the logs of the run and adds copies. Two become attempts of
// one YARN application, in which tasks without metrics take no time. One becomes an
// application that was interrupted. It also adds stored logs of other applications.
func (r *run) everyLog(folder string) error {
	if err := os.CopyFS(folder, os.DirFS(r.events)); err != nil {
		return err
	}
	logs, err := filepath.Glob(filepath.Join(r.events, "app-*"))
	if err != nil {
		return err
	}
	if len(logs) != 2 {
		return fmt.Errorf("logs of two applications on executors: found %v", logs)
	}
	// What ended without metrics, such as with its executor, took no time.
	withoutMetrics := regexp.MustCompile(`(?m)^(\{"Event":"SparkListenerTaskEnd".*"Launch Time":)(\d+)(,.*"Finish Time":)\d+` +
		`(,"Failed":true.*"Task Executor Metrics":\{[^}]*\}\})$`)
	names := regexp.MustCompile(`"App Name":"[^"]*"`)
	for i, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			return err
		}
		own := []byte(`"App ID":"` + filepath.Base(log) + `"`)
		text = bytes.Replace(text, own, fmt.Appendf(nil, `"App ID":"application_1700000000000_0002","App Attempt ID":"%d"`, i+1), 1)
		text = names.ReplaceAll(text, []byte(`"App Name":"history attempts"`))
		text = withoutMetrics.ReplaceAllFunc(text, func(line []byte) []byte {
			if bytes.Contains(line, []byte(`"Reason":"Resubmitted"`)) {
				return line // which repeats an end
			}
			return withoutMetrics.ReplaceAll(line, []byte("${1}${2}${3}${2}${4}"))
		})
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("application_1700000000000_0002_%d", i+1)), text, 0o644); err != nil {
			return err
		}
	}
	if err := r.interrupt(folder); err != nil {
		return err
	}
	for _, kept := range []string{
		"eventlog_v2_app-20261123103508-0000", "codecs/application_1700000000000_0001.zstd", "spark4/eventlog_v2_app-20261124085717-0000",
	} {
		source := filepath.Join("../../eventlog/testdata", kept)
		if out, err := exec.Command("cp", "-r", source, folder).CombinedOutput(); err != nil {
			return fmt.Errorf("copy %s: %w\n%s", kept, err, out)
		}
	}
	return nil
}

// interrupted is the name of an application whose last SQL executions ended before its last
// stage, as when a streaming query is stopped in the middle of a micro-batch.
const interrupted = "history interrupted"

// interrupt writes the log of the streaming application again, with the ends of SQL
// executions that followed the last stage before it.
func (r *run) interrupt(folder string) error {
	logs, err := filepath.Glob(filepath.Join(r.events, "local-*"))
	if err != nil {
		return err
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			return err
		}
		if !bytes.Contains(text, []byte(`"App Name":"history streaming"`)) {
			continue
		}
		begin := bytes.LastIndex(text, []byte(`{"Event":"SparkListenerStageSubmitted"`))
		end := bytes.LastIndex(text, []byte(`{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd"`))
		var before, after []byte
		for line := range bytes.Lines(text[begin:end]) {
			if bytes.Contains(line, []byte("SparkListenerSQLExecutionEnd")) {
				before = append(before, line...)
			} else {
				after = append(after, line...)
			}
		}
		last := bytes.IndexByte(text[end:], '\n') + 1
		text = slices.Concat(text[:begin], before, text[end:end+last], after, text[end+last:])
		id := "local-1700000000003"
		text = bytes.ReplaceAll(text, []byte(filepath.Base(log)), []byte(id))
		text = bytes.ReplaceAll(text, []byte(`"history streaming"`), []byte(`"`+interrupted+`"`))
		return os.WriteFile(filepath.Join(folder, id), text, 0o644)
	}
	return fmt.Errorf("no log of the streaming application in %s", r.events)
}
