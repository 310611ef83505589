package jvm

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

var (
	//go:embed java/Driver.java
	driverSource []byte
	//go:embed java/Busy.java
	busySource []byte
	//go:embed java/Sampling.java
	samplingSource []byte
	//go:embed java/Receiver.java
	receiverSource []byte
)

// node is a folder with what a driver finds on a node:
//
//	node/     platform.NodeInstallDir: launcher, profiler, facts
//	conf/     Spark's configuration
//	local/    Spark's work folder
//	classes/  the classes of this package
type node struct{ dir, spark string }

// newNode fills a temporary folder; remove it with close. It fetches Spark if
// the cache lacks it, and needs a JDK and the node's artifacts in the store.
func newNode(ctx context.Context) (n node, err error) {
	tree, err := applications.Fetch(ctx, nil)
	if err != nil {
		return n, err
	}
	n.spark = filepath.Join(tree, "spark")
	if n.dir, err = os.MkdirTemp("", "bench-jvm-"); err != nil {
		return n, err
	}
	if err := errors.Join(n.install(), n.configure()); err != nil {
		return n, errors.Join(err, n.close())
	}
	if err := n.compile(ctx); err != nil {
		return n, errors.Join(err, n.close())
	}
	return n, nil
}

func (n node) close() error            { return os.RemoveAll(n.dir) }
func (n node) path(name string) string { return filepath.Join(n.dir, name) }

// installed returns the path in this folder of a file of platform.NodeInstallDir.
func (n node) installed(file string) string { return filepath.Join(n.path("node"), path.Base(file)) }

// install puts into the folder what the bootstrap action installs on a node for its JVMs:
// the facts, and the jars of launcher, profiler and plugin.
func (n node) install() error {
	store, err := artifacts.DefaultStore()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(n.path("node"), 0o755); err != nil {
		return err
	}
	facts := platform.FactControl + "=127.0.0.1\n"
	for _, label := range platform.HostLabels() {
		facts += string(label) + "=bench\n"
	}
	return errors.Join(os.WriteFile(n.installed(platform.NodeFactsFile), []byte(facts), 0o644), store.Install(map[string]string{
		platform.ArtifactLauncher: n.installed(platform.NodeLauncherJar),
		platform.ArtifactProfiler: n.installed(platform.NodeProfilerJar),
		platform.ArtifactPlugin:   n.installed(platform.NodePluginJar),
		platform.ArtifactConnect:  n.installed(platform.NodeConnectJar),
	}))
}

// configure writes a node's log4j2.properties. spark-defaults.conf is left out:
// it names YARN and HDFS.
func (n node) configure() error {
	if err := errors.Join(os.MkdirAll(n.path("conf"), 0o755), os.MkdirAll(n.path("local"), 0o755)); err != nil {
		return err
	}
	const name = "log4j2.properties"
	text := hadoop.Files(hadoop.Node{})[platform.EMRSparkConfDir+"/"+name]
	return os.WriteFile(filepath.Join(n.path("conf"), name), []byte(text), 0o644)
}

func (n node) compile(ctx context.Context) error {
	args := []string{"-d", n.path("classes"), "-cp", n.spark + "/jars/*:" + n.installed(platform.NodeLauncherJar)}
	for name, source := range map[string][]byte{
		"Driver.java": driverSource, "Busy.java": busySource, "Sampling.java": samplingSource, "Receiver.java": receiverSource,
	} {
		file := n.path(name)
		if err := os.WriteFile(file, source, 0o644); err != nil {
			return err
		}
		args = append(args, file)
	}
	_, err := n.run(ctx, "javac", args...)
	return err
}

// driver returns the command line of a driver in client mode. options are
// spark-submit's; the application is a class of this package with its arguments.
func (n node) driver(ctx context.Context, options []string, class string, arguments ...string) ([]string, error) {
	// As bin/spark-class, which spark-submit starts, but without running the result.
	const script = `. "$SPARK_HOME/bin/load-spark-env.sh"
exec java -cp "$SPARK_HOME/jars/*" org.apache.spark.launcher.Main org.apache.spark.deploy.SparkSubmit "$@"`
	words := slices.Concat([]string{"-c", script, "spark-class"}, options, []string{"--class", class, "spark-internal"}, arguments)
	out, err := n.run(ctx, "bash", words...)
	if err != nil {
		return nil, err
	}
	return commandLine(out)
}

// commandLine reads what Spark's launcher prints (org.apache.spark.launcher.Main):
// NUL and a newline, then words that each end with NUL.
func commandLine(out string) ([]string, error) {
	_, words, found := strings.Cut(out, "\x00\n")
	if !found || words == "" {
		return nil, fmt.Errorf("spark's launcher printed no command line: %q", out)
	}
	return strings.Split(strings.TrimSuffix(words, "\x00"), "\x00"), nil
}

// run returns what a program prints. Its environment is that of Spark's programs
// on this node.
func (n node) run(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "SPARK_HOME="+n.spark, "SPARK_CONF_DIR="+n.path("conf"),
		"SPARK_LOCAL_DIRS="+n.path("local"), "SPARK_LOCAL_IP=127.0.0.1")
	var out, failure bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failure
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, lastLines(failure.String()))
	}
	return out.String(), nil
}

// lastLines cuts a long text to its end: a driver logs much before it fails.
func lastLines(text string) string {
	const maxBytes = 2000
	return strings.TrimSpace(text[max(0, len(text)-maxBytes):])
}
