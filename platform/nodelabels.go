package platform

// Properties of yarn-site by which EMR labels nodes (EMR Management Guide, "Understand node
// types", Node label feature).
const (
	YARNNodeLabels = "yarn.node-labels.enabled"
	// YARNMasterLabel names the label of the nodes on which application masters run. Hadoop's
	// own name of it is another.
	YARNMasterLabel = "yarn.node-labels.am.default-node-label-expression"
)
