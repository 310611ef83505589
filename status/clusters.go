package status

import (
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Cluster is an EMR cluster with at least one listed Node.
type Cluster struct {
	ID    string         `json:"id"`
	Nodes map[string]int `json:"nodes"` // role -> number of nodes
}

// Bootstrap is the outcome of an EMR node's bootstrap action.
type Bootstrap struct {
	Cluster string                   `json:"cluster"`
	Role    string                   `json:"role"`
	Host    string                   `json:"host"`
	Result  BootstrapResult          `json:"result"`
	Failed  []platform.NodeComponent `json:"failed"` // parts that are not installed
}

// BootstrapResult is the result of a bootstrap action.
type BootstrapResult string

// The results of a bootstrap action. It never fails its node: a part that cannot
// be installed is left out.
const (
	BootstrapComplete BootstrapResult = "complete"
	BootstrapPartial  BootstrapResult = "partial"
	BootstrapUnknown  BootstrapResult = "no report"
)

// countClusters returns the EMR clusters of nodes with their numbers of nodes by role,
// in the order of nodes.
func countClusters(nodes []Node) []Cluster {
	clusters := []Cluster{}
	for _, node := range nodes {
		if node.Role == platform.RoleControl {
			continue
		}
		at := slices.IndexFunc(clusters, func(c Cluster) bool { return c.ID == node.Cluster })
		if at < 0 {
			clusters = append(clusters, Cluster{ID: node.Cluster, Nodes: map[string]int{}})
			at = len(clusters) - 1
		}
		clusters[at].Nodes[node.Role]++
	}
	return clusters
}

// bootstrapOutcomes returns the outcome of each EMR node's bootstrap action, in the
// order of nodes. The control node has none.
func bootstrapOutcomes(nodes []Node) []Bootstrap {
	results := []Bootstrap{}
	for _, node := range nodes {
		if node.Role == platform.RoleControl {
			continue
		}
		b := Bootstrap{Cluster: node.Cluster, Role: node.Role, Host: node.Host, Result: BootstrapComplete, Failed: []platform.NodeComponent{}}
		for component, up := range node.Components {
			if !up {
				b.Failed = append(b.Failed, component)
			}
		}
		slices.Sort(b.Failed)
		switch {
		case len(node.Components) == 0:
			b.Result = BootstrapUnknown
		case len(b.Failed) > 0:
			b.Result = BootstrapPartial
		}
		results = append(results, b)
	}
	return results
}
