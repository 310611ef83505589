package platform

// ClusterComponent begins the logical names of the clusters' components, and so of every
// resource in them: emr-main-cluster.
const ClusterComponent = "emr"

// ClustersTarget is the --target of a refresh that reads back the clusters alone. A
// refresh of everything fails while the control node does not answer, since
// pulumi-kubernetes cannot read its objects. In a target ** matches anything, and *
// anything but a colon (Pulumi CLI documentation, "pulumi refresh").
const ClustersTarget = "**::" + ClusterComponent + "-*"

// RefreshClusters is the command by which the engine learns that clusters have ended.
// The next update creates them again; without it, an update counts them as running.
const RefreshClusters = `pulumi refresh --target "` + ClustersTarget + `"`
