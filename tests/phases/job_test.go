package phases_test

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/examples/jobs"
	"github.com/emr-observatory/emr-observatory/internal/sparktest"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// The job's own clock of its tasks, and the folder that it writes to.
const (
	clockPlugin = "suite.TaskClock"
	clockFolder = "suite.clock"
)

var (
	//go:embed testdata/job.py
	jobScript []byte
	//go:embed testdata/*.java
	classes embed.FS
)

// theCluster is the YARN that all tests share.
var theCluster = sync.OnceValues(func() (*cluster, error) {
	ctx := context.Background()
	tree, err := applications.Fetch(ctx, nil)
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: os.Getenv(insideVariable), tree: tree}
	c.java = c.path("java")
	if err := sparktest.WriteJavaHome(ctx, tree, c.java, strings.Split(c.classes(), ":")...); err != nil {
		return nil, err
	}
	c.received.first, c.received.logs, c.received.shapes = map[string]sentSpan{}, map[string]int{}, map[string]map[string]shape{}
	if c.store, err = startStore(ctx, c.dir); err != nil {
		return nil, err
	}
	if err := errors.Join(installNode(), c.configure(), c.install(ctx)); err != nil {
		return nil, err
	}
	return c, errors.Join(c.received.serve(), c.start(ctx))
})

// startCluster returns the YARN that all tests share.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	c, err := theCluster()
	require.NoError(t, err)
	return c
}

// install writes the job and compiles its classes.
func (c *cluster) install(ctx context.Context) error {
	if err := os.WriteFile(c.path("job.py"), jobScript, 0o644); err != nil {
		return err
	}
	if err := errors.Join(os.CopyFS(c.path("sources"), classes), os.CopyFS(c.path("jobs"), jobs.Sick)); err != nil {
		return err
	}
	args := []string{"-d", c.path("classes"), "-cp", c.tree + "/spark/jars/*"}
	sources, err := filepath.Glob(c.path("sources/testdata/*.java"))
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, c.java+"/bin/javac", append(args, sources...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("compile %v: %w\n%s", sources, err, out)
	}
	return nil
}

// job is one run of job.py, or of another program.
type job struct {
	name      string
	program   string // below the folder jobs; job.py if empty
	inCluster bool   // deploy mode
	queue     string // wideQueue by default
	conf      map[string]string
	env       []string
	mode      string // of job.py, with its arguments
	args      []string
	fails     bool // spark-submit's exit code is not 0
}

// run is a job that ended, or runs.
type run struct {
	job
	*cluster
	submitted time.Time // which the job gives as its spark.app.submitTime
	cmd       *exec.Cmd
	output    string // file of spark-submit's output
	nth       int    // context of the driver
}

// submit starts spark-submit.
func (c *cluster) submit(t *testing.T, j job) *run {
	t.Helper()
	r := &run{job: j, cluster: c, submitted: time.Now(), output: c.path("tmp/" + j.name + ".out")}
	mode, queue := "client", wideQueue
	if j.inCluster {
		mode = "cluster"
	}
	if j.queue != "" {
		queue = j.queue
	}
	args := []string{"--master", "yarn", "--deploy-mode", mode, "--queue", queue, "--name", j.name,
		"--conf", fmt.Sprintf("spark.app.submitTime=%d", r.submitted.UnixMilli()), "--conf", "spark.yarn.tags=" + j.name}
	for k, v := range j.conf {
		args = append(args, "--conf", k+"="+v)
	}
	program := []string{c.path("job.py"), r.clock(), j.mode}
	if j.program != "" {
		program = []string{c.path("jobs/" + j.program)}
	}
	args = slices.Concat(args, program, j.args)
	r.cmd = exec.CommandContext(t.Context(), c.tree+"/spark/bin/spark-submit", args...)
	r.cmd.Env = append(append(os.Environ(), "SPARK_HOME="+c.tree+"/spark", "SPARK_CONF_DIR="+c.sparkConf(),
		"HADOOP_CONF_DIR="+c.hadoopConf(), "JAVA_HOME="+c.java, "SPARK_LOCAL_IP=127.0.0.1"), j.env...)
	r.cmd.Dir = c.path("tmp")
	log, err := os.Create(r.output)
	require.NoError(t, err)
	defer log.Close()
	r.cmd.Stdout, r.cmd.Stderr = log, log
	require.NoError(t, r.cmd.Start())
	return r
}

// clock is the file of the job's own clock.
func (r *run) clock() string { return r.path("clock/" + r.name + ".clock") }

// wait returns once spark-submit has ended.
func (r *run) wait(t *testing.T) {
	t.Helper()
	err := r.cmd.Wait()
	if (err != nil) != r.fails {
		lines := strings.Split(r.printed(t), "\n")
		require.FailNow(t, fmt.Sprintf("%s ended with %v", r.name, err), strings.Join(lines[max(0, len(lines)-40):], "\n"))
	}
}

// printed returns spark-submit's output so far.
func (r *run) printed(t *testing.T) string {
	t.Helper()
	out, err := os.ReadFile(r.output)
	require.NoError(t, err)
	return string(out)
}

// log returns the file of the event log, of the run's nth context.
func (r *run) log(t *testing.T) string {
	t.Helper()
	logs, err := filepath.Glob(r.path("events/application_*"))
	require.NoError(t, err)
	var own []string
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if errors.Is(err, fs.ErrNotExist) { // another job has just ended, and with it the name of its log
			log = strings.TrimSuffix(log, ".inprogress")
			text, err = os.ReadFile(log)
		}
		require.NoError(t, err)
		if bytes.Contains(text, []byte(`"spark.yarn.tags":"`+r.name+`"`)) {
			own = append(own, log)
		}
	}
	require.Greater(t, len(own), r.nth, "event logs of %s", r.name)
	return own[r.nth]
}

var applicationID = regexp.MustCompile(`application_\d+_\d{4}`)

// application returns the application's id.
func (r *run) application(t *testing.T) string {
	t.Helper()
	return applicationID.FindString(filepath.Base(r.log(t)))
}

// static tells whether the job asks for a fixed number of executors.
func (j job) static() bool { return j.conf["spark.dynamicAllocation.enabled"] == "false" }
