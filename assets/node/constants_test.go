package node

import (
	"bytes"
	"fmt"

	"github.com/emr-observatory/emr-observatory/platform"
)

// LauncherConstants renders the Java class with platform's names. It is committed
// among the launcher's sources; a test compares the two.
func LauncherConstants() []byte {
	c := newConstants("observatory.launcher")
	c.text("FACTS_FILE", platform.NodeFactsFile)
	c.text("KILL_SWITCH", platform.NodeKillSwitch)
	c.text("PLUGIN_JAR", platform.NodePluginJar)
	c.text("PROFILER_JAR", platform.NodeProfilerJar)
	c.text("OTLP_ENDPOINT", fmt.Sprintf("http://127.0.0.1:%d", platform.OTLPHTTP))
	c.text("PYROSCOPE_PORT", fmt.Sprint(platform.Pyroscope))
	c.text("GUARD_PROPERTY", platform.LauncherGuardProperty)
	c.text("DISABLE_PROPERTY", platform.LauncherDisableProperty)
	c.text("EXIT_PROPERTY", platform.LauncherExitProperty)
	c.number("EXIT_MILLIS", platform.LauncherExitTimeout.Milliseconds())
	c.text("DISABLE_VARIABLE", platform.LauncherDisableVariable)
	c.text("SERVICE_DRIVER", platform.ServiceSparkDriver)
	c.text("SERVICE_EXECUTOR", platform.ServiceSparkExecutor)
	c.text("DRIVER_ID", platform.DriverID)
	c.text("LABEL_SERVICE", string(platform.ServiceName))
	c.text("LABEL_APP_ID", string(platform.SparkAppID))
	c.text("LABEL_EXECUTOR_ID", string(platform.SparkExecutorID))
	c.text("FACT_CONTROL", platform.FactControl)
	c.text("S3A_BEANS", platform.S3ABeans)
	c.text("S3A_PREFIX", platform.S3APrefix)
	c.text("S3A_ANY_BUCKET", platform.S3AAnyBucket)
	c.number("EXPORT_MILLIS", platform.CollectionInterval.Milliseconds())
	c.text("ALLOCATION_SAMPLE", fmt.Sprintf("%dm", platform.AllocationSampleMiB))
	list(&c, "HOST_LABELS", platform.HostLabels())
	var counters [][2]string
	for _, s := range platform.S3ACounters() {
		counters = append(counters, [2]string{s.Name, s.Unit})
	}
	c.pairs("S3A_COUNTERS", counters)
	return c.class()
}

// PluginConstants is LauncherConstants for the Spark plugin.
func PluginConstants() []byte {
	c := newConstants("observatory.spark")
	c.text("DRIVER_ID", platform.DriverID)
	c.number("EXPORT_MILLIS", platform.CollectionInterval.Milliseconds())
	c.text("TRACEPARENT", platform.SparkTraceparent)
	c.text("CONNECT_OPERATION", platform.SparkConnectOperation)
	c.text("CONNECT_JAR", platform.NodeConnectJar)
	c.text("SAMPLING_RATIO", platform.SparkSamplingRatio)
	c.number("SPAN_BUDGET", platform.SpanBudget)
	c.number("SPAN_BUDGET_BYTES", platform.SpanBudgetBytes)
	airflow := [][2]string{}
	for _, name := range platform.AirflowNames() {
		airflow = append(airflow, [2]string{name.Property, name.Label})
	}
	c.pairs("AIRFLOW", airflow) // properties, and the labels of their values
	list(&c, "PHASES", platform.Phases())
	list(&c, "SESSION_SERVERS", platform.SessionServers())
	list(&c, "WRITE_COMMANDS", platform.SparkWriteCommands())
	return c.class()
}

// constants is a Java class while it is rendered.
type constants struct{ out bytes.Buffer }

func newConstants(java string) (c constants) {
	fmt.Fprintf(&c.out, "package %s;\n\n"+
		"/** Names shared with the rest of the platform. Generated from package platform; do not edit. */\n"+
		"final class Platform {\n  private Platform() {}\n\n", java)
	return c
}

func (c *constants) text(name, value string) {
	fmt.Fprintf(&c.out, "  static final String %s = %q;\n", name, value)
}

func (c *constants) number(name string, value int64) {
	fmt.Fprintf(&c.out, "  static final long %s = %d;\n", name, value)
}

func (c *constants) pairs(name string, values [][2]string) {
	fmt.Fprintf(&c.out, "\n  static final String[][] %s = {\n", name)
	for _, v := range values {
		fmt.Fprintf(&c.out, "    {%q, %q},\n", v[0], v[1])
	}
	c.out.WriteString("  };\n")
}

func list[T ~string](c *constants, name string, values []T) {
	fmt.Fprintf(&c.out, "\n  static final String[] %s = {\n", name)
	for _, v := range values {
		fmt.Fprintf(&c.out, "    %q,\n", string(v))
	}
	c.out.WriteString("  };\n")
}

func (c *constants) class() []byte {
	c.out.WriteString("}\n")
	return c.out.Bytes()
}
