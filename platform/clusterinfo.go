package platform

// The metric of each cluster that reports, with the value 1, and its labels besides
// Cluster. The cluster's id is the label of all other telemetry; its name survives a
// replacement.
const (
	EmittedClusterInfo  = Name + ".cluster.info" // as the control node sends it
	MetricClusterInfo   = Name + "_cluster_info" // as VictoriaMetrics stores it
	LabelClusterName    = "cluster_name"         // EMR's; the id, of a cluster that EMR does not describe
	LabelClusterRelease = "release"              // emr-7.13.0
	LabelClusterState   = "state"                // as EMR writes it: RUNNING, TERMINATED, …
)
