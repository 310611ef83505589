package hadoop

import (
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// EMR's node labels (EMR Management Guide, "Understanding node types", Node label feature):
// all core nodes, or from emr-7.0 all nodes on demand. They share what application masters,
// which have an expression of their own, leave of them.
const (
	labelCore     = "CORE"
	labelOnDemand = "ON_DEMAND"

	// hadoopMasterLabel is Hadoop's own name of platform.YARNMasterLabel, which is EMR's.
	hadoopMasterLabel = "yarn.resourcemanager.node-labels.am.default-node-label-expression"

	// nodeLabelStore keeps the labels through a restart of the resource manager. EMR's is in
	// HDFS.
	nodeLabelStore = "file:///mnt/tmp/yarn-node-labels"
	// labelResync is how often a node manager reports its label, in milliseconds. EMR has the
	// labels before the nodes join; here nodes start beside the resource manager.
	labelResync = "2000"
)

// nodeLabels returns the labels that a cluster may have.
func nodeLabels() []string { return []string{labelCore, labelOnDemand} }

// labelled reports whether the cluster's YARN has node labels.
func (n Node) labelled() bool {
	return n.properties("yarn-site", nil)[platform.YARNNodeLabels] == "true"
}

// label returns the label of the node, "" for none. A node has one: that by which
// application masters choose.
func (n Node) label() string {
	switch wanted := n.properties("yarn-site", nil)[platform.YARNMasterLabel]; {
	case wanted == labelOnDemand && n.OnDemand && n.Role != platform.RoleMaster:
		return labelOnDemand
	case wanted == labelCore && n.Role == platform.RoleCore:
		return labelCore
	}
	return ""
}

// labelSite returns what yarn-site.xml has where node labels are on: each node manager
// reports its own.
func (n Node) labelSite() map[string]string {
	if !n.labelled() {
		return nil
	}
	out := map[string]string{
		"yarn.node-labels.fs-store.root-dir":              nodeLabelStore,
		"yarn.node-labels.configuration-type":             "distributed",
		"yarn.nodemanager.node-labels.resync-interval-ms": labelResync,
		hadoopMasterLabel:                                 n.properties("yarn-site", nil)[platform.YARNMasterLabel],
	}
	if label := n.label(); label != "" {
		out["yarn.nodemanager.node-labels.provider"] = "config"
		out["yarn.nodemanager.node-labels.provider.configured-node-partition"] = label
	}
	return out
}

// labelQueues returns what capacity-scheduler.xml has where node labels are on: each queue
// may use every label.
func (n Node) labelQueues() map[string]string {
	if !n.labelled() {
		return nil
	}
	out := map[string]string{}
	for _, queue := range []string{"root", "root.default"} {
		out["yarn.scheduler.capacity."+queue+".accessible-node-labels"] = "*"
		for _, label := range nodeLabels() {
			out[fmt.Sprintf("yarn.scheduler.capacity.%s.accessible-node-labels.%s.capacity", queue, label)] = "100"
		}
	}
	return out
}

// LabelArguments returns the arguments with which ResourceManagerAdmin adds the cluster's
// node labels; none if it has none.
func (n Node) LabelArguments() []string {
	if !n.labelled() {
		return nil
	}
	var labels []string
	for _, label := range nodeLabels() {
		labels = append(labels, label+"(exclusive=false)")
	}
	return []string{"-addToClusterNodeLabels", strings.Join(labels, ",")}
}
