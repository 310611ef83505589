package observe

import (
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// RestatedRelease is the release whose spark-defaults.conf ShippedJavaOptions
// repeats: the only one of which a whole file is published
// (github.com/justinjiajia/bigdata_lab, spark_configuration_EMR.md).
const RestatedRelease = "emr-7.1.0"

// AgentFlag loads the launcher into a JVM. It is in defaultJavaOptions, never in
// extraJavaOptions: those belong to the jobs, and a job that sets them would
// unknowingly drop the agent.
const AgentFlag = "-javaagent:" + platform.NodeLauncherJar

// ShippedJavaOptions returns what EMR ships under the keys that the platform sets.
// They are restated because naming a key drops EMR's own value. The logging flags
// are unknown to Java 17, which starts all the same: Spark adds
// -XX:+IgnoreUnrecognizedVMOptions itself.
func ShippedJavaOptions() map[string]string {
	return map[string]string{
		schema.SparkDriverAgentKey:   "-XX:OnOutOfMemoryError='kill -9 %p'",
		schema.SparkExecutorAgentKey: "-verbose:gc -XX:+PrintGCDetails -XX:+PrintGCDateStamps -XX:OnOutOfMemoryError='kill -9 %p'",
	}
}
