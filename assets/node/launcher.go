package node

import (
	"bytes"
	"fmt"

	"github.com/emr-observatory/emr-observatory/platform"
)

// LauncherConstants renders the Java class with platform's names. It is committed
// among the launcher's sources; a test compares the two.
func LauncherConstants() []byte {
	var out bytes.Buffer
	line := func(name, value string) { fmt.Fprintf(&out, "  static final String %s = %q;\n", name, value) }
	out.WriteString("package observatory.launcher;\n\n" +
		"/** Names shared with the rest of the platform. Generated from package platform; do not edit. */\n" +
		"final class Platform {\n  private Platform() {}\n\n")
	line("FACTS_FILE", platform.NodeFactsFile)
	line("KILL_SWITCH", platform.NodeKillSwitch)
	line("PROFILER_JAR", platform.NodeProfilerJar)
	line("OTLP_ENDPOINT", fmt.Sprintf("http://127.0.0.1:%d", platform.OTLPHTTP))
	line("PYROSCOPE_PORT", fmt.Sprint(platform.Pyroscope))
	line("GUARD_PROPERTY", platform.LauncherGuardProperty)
	line("DISABLE_PROPERTY", platform.LauncherDisableProperty)
	line("DISABLE_VARIABLE", platform.LauncherDisableVariable)
	line("SERVICE_DRIVER", platform.ServiceSparkDriver)
	line("SERVICE_EXECUTOR", platform.ServiceSparkExecutor)
	line("DRIVER_ID", platform.DriverID)
	line("LABEL_SERVICE", string(platform.ServiceName))
	line("LABEL_APP_ID", string(platform.SparkAppID))
	line("LABEL_EXECUTOR_ID", string(platform.SparkExecutorID))
	line("FACT_CONTROL", platform.FactControl)
	line("S3A_BEANS", platform.S3ABeans)
	line("S3A_PREFIX", platform.S3APrefix)
	fmt.Fprintf(&out, "  static final long EXPORT_MILLIS = %d;\n", platform.CollectionInterval.Milliseconds())
	line("ALLOCATION_SAMPLE", fmt.Sprintf("%dm", platform.AllocationSampleMiB))
	out.WriteString("\n  static final String[] HOST_LABELS = {")
	for i, label := range platform.HostLabels() {
		if i > 0 {
			out.WriteString(", ")
		}
		fmt.Fprintf(&out, "%q", string(label))
	}
	out.WriteString("};\n\n  static final String[][] S3A_COUNTERS = {\n")
	for _, c := range platform.S3ACounters() {
		fmt.Fprintf(&out, "    {%q, %q},\n", c.Name, c.Unit)
	}
	out.WriteString("  };\n}\n")
	return out.Bytes()
}
