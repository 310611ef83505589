package submit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Deploy modes of spark-submit.
const (
	ModeClient  = "client"  // the driver runs on the primary node and logs to the step
	ModeCluster = "cluster" // the driver runs in a YARN container
)

// LogWait is how long it may take until a failed step's log is in S3: EMR uploads
// logs every five minutes (Management Guide, "View log files"), plus the upload.
const LogWait = 6 * time.Minute

// Options says what to run and how to follow it.
type Options struct {
	AWS     aws.Config // credentials, region and endpoints; from config.LoadDefaultConfig
	Cluster string     // j-…

	Bucket      string            // the platform's data bucket, where the application is uploaded
	Application string            // a local .jar or .py, or an s3:// URI of one, which is used as it is
	Args        []string          // the application's own arguments
	Class       string            // main class of a JAR; empty means the one in its manifest
	Conf        map[string]string // Spark properties
	Name        string            // of the step; empty means the application's file name
	DeployMode  string            // ModeClient (default) or ModeCluster

	Wait         bool          // follow the step to its end
	LogWait      time.Duration // how long to wait for a failed step's log in S3; see LogWait; 0 looks once
	PhasesWait   time.Duration // how long to wait for the phases of its applications; see PhasesWait; 0 does not ask
	Status       StatusPage    // which tells the phases
	PollInterval time.Duration // first interval between polls, default 5 s; it grows to LongestPoll
	LongestPoll  time.Duration // default 30 s
	Progress     io.Writer     // receives progress messages; nil discards them
	Silence      time.Duration // longest time without one while it waits, give or take a poll; default 20 s

	ShowLogs bool // the error of a failed step ends with the last lines of its logs
}

// secretKey is Spark's own default of spark.redaction.regex (3.5 configuration reference).
var secretKey = regexp.MustCompile(`(?i)secret|password|token|access[.]?key`)

func (o Options) withDefaults() Options {
	o.Name, o.DeployMode = cmp.Or(o.Name, path.Base(filepath.ToSlash(o.Application))), cmp.Or(o.DeployMode, ModeClient)
	if o.LongestPoll <= 0 {
		o.LongestPoll = maxPollInterval
	}
	if o.PollInterval <= 0 {
		o.PollInterval = 5 * time.Second
	}
	if o.Silence <= 0 {
		o.Silence = 20 * time.Second
	}
	if o.Status.Settle <= 0 {
		o.Status.Settle = phasesSettle
	}
	o.Progress = cmp.Or(o.Progress, io.Discard)
	return o
}

// Validate reports every violation at once, before anything is uploaded.
func (o Options) Validate() error {
	var violations []error
	add := func(format string, args ...any) { violations = append(violations, fmt.Errorf(format, args...)) }
	o = o.withDefaults()
	if !platform.IsClusterID(o.Cluster) {
		violations = append(violations, errNoCluster(o.Cluster))
	}
	violations = append(violations, o.validateApplication()...)
	if ratio, given := o.Conf[platform.SparkSamplingRatio]; given {
		if _, err := platform.ParseSamplingRatio(ratio); err != nil {
			add("conf %s: %w", platform.SparkSamplingRatio, err)
		}
	}
	if n := utf8.RuneCountInString(o.Name); n > platform.MaxStepName {
		add("name: %d characters: at most %d", n, platform.MaxStepName)
	}
	if o.DeployMode != ModeClient && o.DeployMode != ModeCluster {
		add("deploy mode: %q: must be %s or %s", o.DeployMode, ModeClient, ModeCluster)
	}
	for _, key := range slices.Sorted(maps.Keys(o.Conf)) {
		switch {
		case key == platform.SparkTraceparent, key == platform.SparkStepParent:
			add("conf %s: is set by submit itself; remove it, and set the environment variable TRACEPARENT to continue a trace", key)
		case !strings.HasPrefix(key, "spark."):
			add("conf %s: spark-submit ignores properties that do not begin with spark.; did you mean spark.%s or spark.hadoop.%s?", key, key, key)
		case secretKey.MatchString(key):
			add("conf %s: a step's arguments can be read by whoever may describe the cluster; let the job read secrets from a secret store", key)
		}
	}
	return errors.Join(violations...)
}

func (o Options) validateApplication() []error {
	var violations []error
	kind := path.Ext(o.Application)
	if kind != ".jar" && kind != ".py" {
		violations = append(violations, fmt.Errorf("application: %q: must be a .jar or a .py", o.Application))
	}
	if kind == ".py" && o.Class != "" {
		violations = append(violations, fmt.Errorf("class: %q: only a .jar has a main class; remove it", o.Class))
	}
	if o.isInS3() {
		return violations
	}
	if info, err := os.Stat(o.Application); err != nil || !info.Mode().IsRegular() {
		violations = append(violations, fmt.Errorf("application: %q: no such file; give a path or an s3:// URI", o.Application))
	}
	if o.Bucket == "" {
		violations = append(violations, errors.New(`bucket: "": must name the data bucket; the stack output dataBucket has it`))
	}
	return violations
}

// isInS3 reports whether the application is given as an S3 URI.
func (o Options) isInS3() bool { return strings.HasPrefix(o.Application, "s3://") }

// commandRunnerArgs returns the arguments of command-runner.jar: the spark-submit
// command. spark-submit reads its own options only up to the application.
func (o Options) commandRunnerArgs(applicationURI string, trace stepTrace) []string {
	args := []string{"spark-submit", "--deploy-mode", o.DeployMode, "--name", o.Name}
	if o.Class != "" {
		args = append(args, "--class", o.Class)
	}
	properties := trace.properties()
	for _, key := range slices.Sorted(maps.Keys(o.Conf)) {
		properties = append(properties, key+"="+o.Conf[key])
	}
	for _, property := range properties {
		args = append(args, "--conf", property)
	}
	return append(append(args, applicationURI), o.Args...)
}

// checkCharacters refuses arguments that EMR does.
func checkCharacters(args []string) error {
	size := len(commandRunner)
	for _, arg := range args {
		size += len(arg)
	}
	if size > platform.MaxStepArguments {
		return fmt.Errorf(
			"arguments: %d characters with spark-submit's own: EMR takes at most %d; put long ones into a file in S3",
			size, platform.MaxStepArguments)
	}
	return nil
}

// WithAirflow returns the options with the DAG, task, run and try of the Airflow task that
// this process runs in, which its environment names (Airflow, "BashOperator": variables
// AIRFLOW_CTX_…). Properties that are set already remain.
func (o Options) WithAirflow() Options {
	conf := maps.Clone(o.Conf)
	if conf == nil {
		conf = map[string]string{}
	}
	for _, name := range platform.AirflowNames() {
		if conf[name.Property] == "" {
			if value := os.Getenv(name.Variable); value != "" {
				conf[name.Property] = value
			}
		}
	}
	o.Conf = conf
	return o
}
