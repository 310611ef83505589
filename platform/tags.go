package platform

import (
	"maps"
	"slices"
	"strings"
)

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

// MissingTags returns those of the wanted tags that a resource lacks or has with another
// value.
func MissingTags(has, wanted map[string]string) map[string]string {
	missing := maps.Clone(wanted)
	maps.DeleteFunc(missing, func(key, value string) bool {
		own, set := has[key]
		return set && own == value
	})
	return missing
}

// TagPairs writes each tag as KEY=VALUE, in the order of their keys.
func TagPairs(tags map[string]string) []string {
	pairs := make([]string, 0, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		pairs = append(pairs, key+"="+tags[key])
	}
	return pairs
}

// AddTagsCommand is what gives a running EMR cluster tags. EMR changes those of an ended
// cluster no more (EMR Management Guide, "Restrictions that apply to tagging resources in
// Amazon EMR").
func AddTagsCommand(cluster string, tags map[string]string) string {
	return "aws emr add-tags --resource-id " + cluster + " --tags " + strings.Join(TagPairs(tags), " ")
}

// ClusterNamePrefix is what the names of a stack's own clusters begin with, as EMR lists
// them; the key of the cluster in the configuration follows.
func ClusterNamePrefix(stack string) string { return Project + "-" + stack + "-" }
