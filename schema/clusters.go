package schema

import (
	"fmt"
	"maps"
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// MaxClusters is how many clusters one stack may have.
const MaxClusters = 20

// clusterKey matches the key of a cluster: it is a part of logical names, of an S3
// prefix and of the cluster's name in EMR.
const clusterKey = `^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$`

func clustersRules() map[string]Rule {
	return map[string]Rule{
		"clusters": textOnly(fmt.Sprintf("must be at most %d clusters, with keys of 1 to 32 lower-case letters, digits and hyphens that begin "+
			"with a letter and end with none", MaxClusters)),
		"clusterKey": pattern(clusterKey, "a key of 1 to 32 lower-case letters, digits and hyphens, a letter first and no hyphen last"),
		"nodeArch":   oneOf(platform.Architectures()...).with(", that of each group's instance type among them", ""),
	}
}

// ClusterKeys returns the keys of the clusters in their order.
func (c Config) ClusterKeys() []string { return slices.Sorted(maps.Keys(c.Clusters)) }

// InstanceGroups returns the instance groups of all clusters.
func (c Config) InstanceGroups() []InstanceGroup {
	var groups []InstanceGroup
	for _, key := range c.ClusterKeys() {
		groups = append(groups, c.Clusters[key].Groups()...)
	}
	return groups
}

// ClusterPath returns the configuration path of a cluster.
func ClusterPath(key string) string { return "clusters." + key }

// CheckClusterKey checks a cluster's key on its own.
func CheckClusterKey(l *violation.List, key string) {
	r := rules["clusterKey"]
	l.Require(r.Holds(key), ClusterPath(key), key, r.Text, "rename the key")
}

func (c Config) checkClusters(l *violation.List) {
	l.Require(len(c.Clusters) <= MaxClusters, "clusters", len(c.Clusters), rules["clusters"].Text, "declare others in another stack")
	for _, key := range c.ClusterKeys() {
		CheckClusterKey(l, key)
		c.Clusters[key].Validate(l, ClusterPath(key), c.Ephemeral)
		c.Clusters[key].checkSubnets(l, ClusterPath(key), c.Network)
		c.Clusters[key].checkPartition(l, ClusterPath(key), c.Region)
		c.Clusters[key].checkBids(l, ClusterPath(key), c.Region)
		checkTagsBeside(l, ClusterPath(key)+".tags", c.Clusters[key].Tags, c.Tags)
	}
	c.checkArchitectures(l)
}

// checkArchitectures requires that the data bucket has artifacts for the nodes of
// each group.
func (c Config) checkArchitectures(l *violation.List) {
	l.Require(len(c.Architectures) > 0, "architectures", c.Architectures, "must not be empty: nodes would find nothing to install",
		"name those of the clusters, the stack's and others")
	checked := map[string]bool{}
	for _, g := range c.InstanceGroups() {
		arch := Arch(g.InstanceType)
		if checked[arch] {
			continue
		}
		checked[arch] = true
		l.Require(slices.Contains(c.Architectures, arch), "architectures", c.Architectures, rules["nodeArch"].Text,
			"add "+arch+", which "+g.InstanceType+" has, or choose another type: another architecture changes the bootstrap action "+
				"of all clusters, and so replaces each of them")
	}
}
