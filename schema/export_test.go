package schema

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
	CheckExecutors        = checkExecutors
	CheckPropertyNames    = checkPropertyNames
	CheckSecretProperties = checkSecretProperties
)

// MaxNodes returns how many nodes a cluster has at most.
func MaxNodes(c Cluster) int { return c.maxNodes() }
