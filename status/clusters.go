package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Cluster is an EMR cluster that sends telemetry or is the stack's own. One that has
// ended remains for a day.
type Cluster struct {
	ID      string             `json:"id"`
	Name    string             `json:"name"`             // EMR's; the id, until EMR has told it
	State   types.ClusterState `json:"state,omitempty"`  // left out of one that EMR does not describe
	Reason  string             `json:"reason,omitempty"` // why it ended, or why EMR does not describe it
	Ended   *time.Time         `json:"ended,omitempty"`
	Release string             `json:"release,omitempty"`
	Own     bool               `json:"own"`   // the stack started it: it has its tags, and a name of the stack
	Nodes   map[string]int     `json:"nodes"` // role -> number of nodes

	// HistoryUnread is why the profiler does not read its history, with the remedy.
	HistoryUnread string `json:"historyUnread,omitempty"`

	// Bootstrap says whether it was started with the bootstrap action of today.
	Bootstrap BootstrapVersion `json:"bootstrap"`
}

// BootstrapVersion compares what a cluster's bootstrap action installed with what the
// platform's installs today.
type BootstrapVersion string

// The versions of a bootstrap action. EMR runs it as a node starts, so the nodes of a
// cluster that runs never change theirs.
const (
	BootstrapCurrent  BootstrapVersion = "current"
	BootstrapOutdated BootstrapVersion = "outdated"
	BootstrapAbsent   BootstrapVersion = "none"
	BootstrapNotKnown BootstrapVersion = "not known"
)

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

// withoutUnlisted leaves out the nodes of clusters whose ids EMR does not list, but for some
// (maxUnlisted), and says so. Before EMR's first answer it leaves out none.
func (s Source) withoutUnlisted(nodes []Node) ([]Node, []string) {
	if s.Clusters == nil || s.Clusters.Unlisted() == 0 {
		return nodes, nil
	}
	kept := slices.DeleteFunc(nodes, func(n Node) bool {
		return n.Role != platform.RoleControl && !s.Clusters.Keeps(n.Cluster)
	})
	return kept, []string{fmt.Sprintf(
		"%d more cluster ids, which EMR does not list, send telemetry: find who made them up, by the hosts in %s",
		s.Clusters.Unlisted(), platform.MetricHostSeen)}
}

// knowsClusters reports whether the last answer of EMR named every cluster of the stack.
func (s Source) knowsClusters() bool { return s.Clusters != nil && s.Clusters.Whole() }

// listed returns those of clusters whose steps EMR is asked for.
func (s Source) listed(clusters []Cluster) []Cluster {
	return slices.DeleteFunc(slices.Clone(clusters), func(c Cluster) bool { return s.Clusters != nil && !s.Clusters.Lists(c.ID) })
}

// clusters returns the clusters of nodes, and those that EMR says more of, by name; of
// one name the cluster that runs first.
func (s Source) clusters(nodes []Node, now time.Time) []Cluster {
	clusters := countClusters(nodes)
	if s.Clusters != nil {
		for _, known := range s.Clusters.Observed() {
			at := slices.IndexFunc(clusters, func(c Cluster) bool { return c.ID == known.ID })
			if at < 0 && known.Final() && known.Ended.Before(now.Add(-endedFor)) {
				continue
			}
			if at < 0 {
				clusters = append(clusters, Cluster{ID: known.ID, Nodes: map[string]int{}, Bootstrap: BootstrapNotKnown})
				at = len(clusters) - 1
			}
			clusters[at].describe(known, s.Config.BootstrapHash)
		}
	}
	slices.SortStableFunc(clusters, func(a, b Cluster) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), -a.end().Compare(b.end()), strings.Compare(a.ID, b.ID))
	})
	return clusters
}

// describe adds what EMR says.
func (c *Cluster) describe(known EMRCluster, current string) {
	c.Name, c.State, c.Release, c.Own, c.HistoryUnread = known.Name, known.State, known.Release, known.Own, known.Unread
	c.Reason = cmp.Or(known.Reason, known.Unknown)
	if !known.Ended.IsZero() {
		c.Ended = &known.Ended
	}
	switch {
	case !known.BootstrapRead:
	case known.BootstrapHash == "":
		c.Bootstrap = BootstrapAbsent
	case known.BootstrapHash == current:
		c.Bootstrap = BootstrapCurrent
	default:
		c.Bootstrap = BootstrapOutdated
	}
}

// Roles writes the numbers of nodes: "1 master, 2 core".
func (c Cluster) Roles() string {
	var texts []string
	for _, role := range []string{platform.RoleMaster, platform.RoleCore, platform.RoleTask} {
		if n := c.Nodes[role]; n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", n, role))
		}
	}
	return cmp.Or(strings.Join(texts, ", "), "none")
}

// Shown writes the state, and whether the stack started the cluster.
func (c Cluster) Shown() string {
	state := cmp.Or(string(c.State), "not known")
	if c.State != "" && !c.Own {
		state += ", of others"
	}
	return state
}

// end is when the cluster ended, or a time after all others while it runs.
func (c Cluster) end() time.Time {
	if c.Ended == nil {
		return time.Unix(1<<40, 0)
	}
	return *c.Ended
}

// NameOf returns the name of a cluster, the id of one that is not listed.
func (s Status) NameOf(id string) string {
	at := slices.IndexFunc(s.Clusters, func(c Cluster) bool { return c.ID == id })
	if at < 0 {
		return id
	}
	return cmp.Or(s.Clusters[at].Name, id)
}

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
			clusters = append(clusters, Cluster{ID: node.Cluster, Name: node.Cluster, Nodes: map[string]int{}, Bootstrap: BootstrapNotKnown})
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
