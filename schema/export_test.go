package schema

import (
	"slices"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// What tests call on its own.
var (
	CheckInstanceType    = checkInstanceType
	CheckVolumeLimits    = checkVolumeLimits
	CheckSupport         = checkSupport
	CheckApplication     = checkApplication
	CheckSecretArguments = checkSecretArguments

	CheckClassificationNames = checkClassificationNames
)

// Settings makes the settings of some classifications, each set below its own name.
func Settings(classifications map[string]map[string]string) settings {
	out := settings{}
	for name, properties := range classifications {
		out.add(name, name, properties)
	}
	return out
}

// What tests call with Settings.
var (
	CheckSparkValues      = checkSparkValues
	CheckSparkContext     = checkSparkContext
	CheckYARN             = checkYARN
	CheckPropertyNames    = checkPropertyNames
	CheckSecretProperties = checkSecretProperties
)

// MaxNodes returns how many nodes a cluster has at most.
func MaxNodes(c Cluster) int { return c.maxNodes() }

// CheckMemory checks what Spark asks of YARN on nodes of some types.
func CheckMemory(l *violation.List, s settings, primary string, workers, applications []string) {
	m := machines{primary: primary, workers: workers, hbase: slices.Contains(applications, "HBase")}
	checkExecutors(l, s, m)
	checkApplicationMasters(l, s, m)
}
