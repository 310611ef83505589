package schema

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// submitOptions are options of spark-submit that set a property (Spark, "Submitting
// applications"; org.apache.spark.deploy.SparkSubmitArguments).
func submitOptions() map[string]string {
	return map[string]string{
		"--executor-memory": executorMemory, "--executor-cores": executorCores, "--num-executors": executorCount,
		"--driver-memory": driverMemory, "--driver-cores": driverCores, "--deploy-mode": deployMode,
		"--driver-java-options": driverOptions,
	}
}

// submitSwitches are options of spark-submit without a value.
func submitSwitches() []string {
	return []string{"-v", "--verbose", "--version", "-h", "--help", "--supervise", "--usage-error"}
}

// submitted returns what a command of Spark sets for itself, over the cluster's settings.
func submitted(at string, arguments []string) map[string]setting {
	out := map[string]setting{}
	if len(arguments) == 0 || !strings.HasPrefix(path.Base(arguments[0]), "spark-") {
		return out
	}
	for i := 1; i < len(arguments) && strings.HasPrefix(arguments[i], "-"); i++ {
		option, value, joined := strings.Cut(arguments[i], "=")
		if slices.Contains(submitSwitches(), option) {
			continue
		}
		if !joined {
			if i++; i == len(arguments) {
				return out
			}
			value = arguments[i]
		}
		name, set := submitOptions()[option]
		if option == "--conf" || option == "-c" {
			name, value, set = strings.Cut(value, "=")
		}
		if set {
			out[name] = setting{pathOf(at, i), value}
		}
	}
	return out
}

// checkSubmitted checks what a step sets for its application, as the same settings of the
// cluster are checked. It reports nothing that is the cluster's.
func (c Cluster) checkSubmitted(l *violation.List, at string, arguments []string, s settings, on machines) {
	own := submitted(at, arguments)
	if len(own) == 0 {
		return
	}
	merged := maps.Clone(s)
	merged[sparkDefaults] = maps.Clone(s[sparkDefaults])
	if merged[sparkDefaults] == nil {
		merged[sparkDefaults] = map[string]setting{}
	}
	maps.Copy(merged[sparkDefaults], own)
	found := violation.List{Prefix: l.Prefix}
	checkSparkValues(&found, settings{sparkDefaults: own})
	checkPropertyNames(&found, settings{sparkDefaults: own})
	checkSparkContext(&found, merged, c.Encryption.InTransit())
	checkExecutors(&found, merged, on)
	checkApplicationMasters(&found, merged, on)
	l.Take(&found, at)
}
