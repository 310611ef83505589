package phases_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Queues of YARN. A job in the narrow one gets nothing while another holds it.
const (
	wideQueue   = "default"
	narrowQueue = "narrow"
)

// What YARN gives out, more than the machine has: containers of these jobs mostly
// wait. The narrow queue holds one application master and one executor.
const (
	yarnMemoryMB   = 16384
	containerMB    = 640 // of an application master and of an executor
	narrowPercent  = 8   // of yarnMemoryMB: two containers
	widePercent    = 100 - narrowPercent
	heapMB         = 512
	overheadMB     = containerMB - heapMB
	nodeVCores     = 64
	sparkHeartbeat = "200ms" // of an application master: what it asks for is there at once
)

// logPattern is that of EMR, with the time in milliseconds since the epoch.
const logPattern = "%d{UNIX_MILLIS} %p %c{1}: %m%n%ex"

// cluster is a YARN with what its jobs need.
type cluster struct {
	dir   string // state
	tree  string // Spark and Hadoop
	java  string // JAVA_HOME
	store *store

	received receiver // in place of the node's collector
}

func (c *cluster) path(name string) string { return filepath.Join(c.dir, name) }

// configure writes EMR's configuration with the paths and addresses of these processes.
func (c *cluster) configure() error {
	n := hadoop.Node{
		ClusterID: "j-PHASES", Release: observe.RestatedRelease, AccountID: "123456789012", Region: region, Role: platform.RoleMaster,
		Host: "localhost", Domain: "localdomain", MasterHost: "localhost", CoreNodes: 1, MemoryMB: yarnMemoryMB, VCores: nodeVCores,
		S3Endpoint: c.store.endpoint(), Configurations: c.classifications(),
	}
	for file, content := range hadoop.Files(n) {
		path := c.path(filepath.Join("conf", filepath.Base(filepath.Dir(filepath.Dir(file))), filepath.Base(file)))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	for _, folder := range []string{"events", "local", "logs", "staging", "clock", "tmp"} {
		if err := os.MkdirAll(c.path(folder), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// hadoopConf and sparkConf are the folders of the configuration.
func (c *cluster) hadoopConf() string { return c.path("conf/hadoop") }
func (c *cluster) sparkConf() string  { return c.path("conf/spark") }

func (c *cluster) classifications() []hadoop.Configuration {
	const queue = "yarn.scheduler.capacity.root."
	local := "file://" + c.dir + "/"
	site := func(classification string, properties map[string]string) hadoop.Configuration {
		return hadoop.Configuration{Classification: classification, Properties: properties}
	}
	export := func(classification string, variables map[string]string) hadoop.Configuration {
		return hadoop.Configuration{Classification: classification, Configurations: []hadoop.Configuration{site("export", variables)}}
	}
	return []hadoop.Configuration{
		site("core-site", map[string]string{
			"fs.defaultFS": "file:///", "hadoop.tmp.dir": c.path("tmp"), "fs.s3a.buffer.dir": c.path("tmp"),
			"fs.s3a.access.key": accessKey, "fs.s3a.secret.key": secretKey,
			"fs.s3a.aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
		}),
		site("yarn-site", map[string]string{
			"yarn.resourcemanager.hostname": "localhost", "yarn.nodemanager.hostname": "localhost",
			"yarn.nodemanager.local-dirs": c.path("local"), "yarn.nodemanager.log-dirs": c.path("logs"),
			"yarn.nodemanager.delete.debug-delay-sec": "0", "yarn.scheduler.maximum-allocation-vcores": fmt.Sprint(nodeVCores),
		}),
		site("capacity-scheduler", map[string]string{
			queue + "queues": wideQueue + "," + narrowQueue, "yarn.scheduler.capacity.maximum-am-resource-percent": "1",
			queue + wideQueue + ".capacity":   fmt.Sprint(widePercent),
			queue + narrowQueue + ".capacity": fmt.Sprint(narrowPercent), queue + narrowQueue + ".maximum-capacity": fmt.Sprint(narrowPercent),
			queue + narrowQueue + ".user-limit-factor": "10", queue + wideQueue + ".user-limit-factor": "10",
		}),
		site("spark-defaults", c.sparkDefaults(local)),
		site("hadoop-log4j", map[string]string{"appender.console.layout.pattern": logPattern}),
		site("spark-log4j2", map[string]string{"appender.console.layout.pattern": logPattern}),
		export("hadoop-env", map[string]string{"JAVA_HOME": c.java}),
		export("spark-env", map[string]string{
			"JAVA_HOME": c.java, "SPARK_HOME": c.tree + "/spark", "SPARK_LOG_DIR": c.path("tmp"), "HADOOP_CONF_DIR": c.hadoopConf(),
			"SPARK_PUBLIC_DNS": "localhost", "PYSPARK_PYTHON": "python3",
		}),
	}
}

// sparkDefaults are those of a cluster of the platform (the launcher in each JVM)
// with small containers.
func (c *cluster) sparkDefaults(local string) map[string]string {
	defaults := map[string]string{
		"spark.executorEnv.JAVA_HOME": c.java, "spark.yarn.appMasterEnv.JAVA_HOME": c.java,
		"spark.yarn.appMasterEnv.SPARK_PUBLIC_DNS": "localhost", "spark.yarn.appMasterEnv.PYSPARK_PYTHON": "python3",
		"spark.yarn.appMasterEnv.SPARK_HOME": c.tree + "/spark",
		"spark.eventLog.dir":                 local + "events", "spark.history.fs.logDirectory": local + "events",
		"spark.sql.warehouse.dir": local + "warehouse", "spark.yarn.stagingDir": local + "staging",
		"spark.yarn.jars":     "local:" + c.tree + "/spark/jars/*",
		"spark.driver.memory": fmt.Sprintf("%dm", heapMB), "spark.driver.memoryOverhead": fmt.Sprintf("%dm", overheadMB),
		"spark.executor.memory": fmt.Sprintf("%dm", heapMB), "spark.executor.memoryOverhead": fmt.Sprintf("%dm", overheadMB),
		"spark.yarn.am.memory": fmt.Sprintf("%dm", heapMB), "spark.yarn.am.memoryOverhead": fmt.Sprintf("%dm", overheadMB),
		"spark.yarn.scheduler.heartbeat.interval-ms": sparkHeartbeat, "spark.yarn.report.interval": sparkHeartbeat,
		platform.SparkSamplingRatio: "1", "spark.ui.enabled": "false", "spark.dynamicAllocation.maxExecutors": "2",
		// On a busy machine a driver is busy for longer than Spark's 60 s. The job's account
		// knows of no wait for a second executor, unless the job is made to wait.
		"spark.dynamicAllocation.executorIdleTimeout": "30min",
		// The job's own clock of its tasks, beside the platform's plugin.
		"spark.plugins": clockPlugin, "spark.driver.extraClassPath": c.classes(), "spark.executor.extraClassPath": c.classes(),
		"spark." + clockFolder: c.path("clock"),
	}
	for key, options := range observe.ShippedJavaOptions() {
		defaults[key] = options + " " + observe.AgentFlag
	}
	for _, process := range []string{"driver", "executor", "yarn.am"} {
		// Short jobs, which C2 makes no faster.
		defaults["spark."+process+".extraJavaOptions"] = "-XX:TieredStopAtLevel=1 " + patientLauncher()
	}
	return defaults
}

// patientLauncher is the option of a JVM on a machine that may be too busy to send its last
// telemetry in the time that the launcher takes by default.
func patientLauncher() string {
	return fmt.Sprintf("-D%s=%d", platform.LauncherExitProperty, testenv.Start.Scaled().Milliseconds())
}

// classes is the class path of the jobs' own classes.
func (c *cluster) classes() string { return c.path("classes") + ":" + c.path("jars/*") }

// daemon starts a daemon of YARN.
func (c *cluster) daemon(d hadoop.Daemon) error {
	log, err := os.Create(c.daemonLog(d))
	if err != nil {
		return err
	}
	lib := c.tree + "/hadoop"
	cmd := exec.Command(c.java+"/bin/java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx"+d.Heap,
		"--add-opens=java.base/java.lang=ALL-UNNAMED", "--add-opens=java.base/java.util=ALL-UNNAMED", "--add-opens=java.base/java.io=ALL-UNNAMED",
		"-cp", strings.Join([]string{c.hadoopConf(), lib + "/lib/*", lib + "/shuffle/*"}, ":"), d.Class)
	cmd.Env = append(os.Environ(), "JAVA_HOME="+c.java, "HADOOP_CONF_DIR="+c.hadoopConf())
	cmd.Stdout, cmd.Stderr = log, log
	return cmd.Start() // it ends with the process namespace
}

func (c *cluster) daemonLog(d hadoop.Daemon) string { return c.path("tmp/" + d.Unit + ".log") }

// acceptedUntil matches the line of the ResourceManager's log that tells when it
// heard of an application's master.
var acceptedUntil = regexp.MustCompile(`(?m)^(\d+) .* (application_\d+_\d+) State change from ACCEPTED to RUNNING`)

// running returns when YARN ran an application's master, in milliseconds, by its own
// log; -1 if it has not.
func (c *cluster) running(t *testing.T, application string) int64 {
	t.Helper()
	log, err := os.ReadFile(c.daemonLog(hadoop.ResourceManager()))
	require.NoError(t, err)
	for _, found := range acceptedUntil.FindAllStringSubmatch(string(log), -1) {
		if found[2] == application {
			millis, err := strconv.ParseInt(found[1], 10, 64)
			require.NoError(t, err)
			return millis
		}
	}
	return -1
}

// start starts YARN and returns once a node is there.
func (c *cluster) start(ctx context.Context) error {
	for _, d := range []hadoop.Daemon{hadoop.ResourceManager(), hadoop.NodeManager()} {
		if err := c.daemon(d); err != nil {
			return fmt.Errorf("start %s: %w", d.Class, err)
		}
	}
	return testenv.Poll(ctx, testenv.Start, 200*time.Millisecond, func(ctx context.Context) error {
		var metrics struct{ ActiveNodes int }
		if err := c.askYARN(ctx, "metrics", &metrics); err != nil {
			return err
		}
		if metrics.ActiveNodes == 0 {
			return fmt.Errorf("no node is active in YARN; see %s", c.path("tmp"))
		}
		return nil
	})
}

// askYARN reads a resource of the ResourceManager.
func (c *cluster) askYARN(ctx context.Context, resource string, into any) error {
	url := fmt.Sprintf("http://localhost:%d/ws/v1/cluster/%s", platform.ResourceManagerUI, resource)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}
