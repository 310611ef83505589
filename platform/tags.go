package platform

// Tags of every AWS resource of a stack, set by the AWS provider. YACE finds the
// stack's resources by them.
const (
	TagProject = "observatory:project" // Project
	TagStack   = "observatory:stack"   // the Pulumi stack's name
)

// TagCluster is the tag of what belongs to one EMR cluster of a stack: the cluster's
// key in the configuration. EMR copies it to the cluster's instances, so that costs
// can be divided by it.
const TagCluster = "observatory:cluster"

// StackTags identify the resources of a stack.
func StackTags(stack string) map[string]string {
	return map[string]string{TagProject: Project, TagStack: stack}
}

// ClusterNamePrefix is what the names of a stack's own clusters begin with, as EMR lists
// them; the key of the cluster in the configuration follows.
func ClusterNamePrefix(stack string) string { return Project + "-" + stack + "-" }
