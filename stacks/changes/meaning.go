package changes

import "strings"

// Types whose replacement or restart has consequences beyond a new id.
const (
	typeBucket   = "aws:s3/bucketV2:BucketV2"
	typeVolume   = "aws:ebs/volume:Volume"
	typeKey      = "aws:kms/key:Key"
	typeCluster  = "aws:emr/cluster:Cluster"
	typeInstance = "aws:ec2/instance:Instance"
	typeClaim    = "kubernetes:core/v1:PersistentVolumeClaim"

	typeStash = "pulumi:index:Stash" // a value that the state alone has
)

// Stateful maps a resource type to the data lost with such a resource.
func Stateful() map[string]string {
	return map[string]string{
		typeBucket:  "its objects",
		typeVolume:  "metrics, logs and the Kubernetes datastore",
		typeKey:     "the only way to read what it encrypted",
		typeCluster: "steps that have not ended, and HDFS",
		typeClaim:   "the files of a workload",
	}
}

// podTemplates are the types whose pods are recreated when their template
// changes, including the configuration hash in its annotations (Kubernetes
// docs, "Deployments", "DaemonSet", "StatefulSets": rollout).
var podTemplates = []string{"kubernetes:apps/v1:Deployment", "kubernetes:apps/v1:DaemonSet"}

// needStop are the instance fields that EC2 can only change by stopping and
// starting the instance (EC2 User Guide, "Change the instance type").
var needStop = []string{"instanceType", "ebsOptimized", "cpuOptions"}

// restarts reports whether an update in place restarts the running workload.
func restarts(typ string, paths []string) bool {
	within := func(places ...string) bool {
		for _, path := range paths {
			for _, place := range places {
				if path == place || strings.HasPrefix(path, place+".") || strings.HasPrefix(path, place+"[") {
					return true
				}
			}
		}
		return false
	}
	for _, t := range podTemplates {
		if t == typ {
			return within("spec.template")
		}
	}
	return typ == typeInstance && within(needStop...)
}
