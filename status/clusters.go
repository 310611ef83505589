package status

import (
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Cluster is an EMR cluster of which a Node is listed.
type Cluster struct {
	ID    string         `json:"id"`
	Nodes map[string]int `json:"nodes"` // role to the number of nodes
}

// Bootstrap is what the bootstrap action of an EMR node came to.
type Bootstrap struct {
	Cluster string                   `json:"cluster"`
	Role    string                   `json:"role"`
	Host    string                   `json:"host"`
	Result  BootstrapResult          `json:"result"`
	Failed  []platform.NodeComponent `json:"failed"` // what is not there
}

// BootstrapResult is how a bootstrap action ended.
type BootstrapResult string

// The results of a bootstrap action. It never fails its node: what could not
// be installed is left out.
const (
	BootstrapComplete BootstrapResult = "complete"
	BootstrapPartial  BootstrapResult = "partial"
	BootstrapUnknown  BootstrapResult = "no report"
)

// clustersOf counts the nodes of each EMR cluster, in the order of nodes.
func clustersOf(nodes []Node) []Cluster {
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

// bootstrapOf tells each EMR node's bootstrap, in the order of nodes. The
// control node has none.
func bootstrapOf(nodes []Node) []Bootstrap {
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
