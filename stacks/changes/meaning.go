package changes

import "strings"

// Types whose replacement or restart means more than a new id.
const (
	typeBucket   = "aws:s3/bucketV2:BucketV2"
	typeVolume   = "aws:ebs/volume:Volume"
	typeKey      = "aws:kms/key:Key"
	typeCluster  = "aws:emr/cluster:Cluster"
	typeInstance = "aws:ec2/instance:Instance"
	typeClaim    = "kubernetes:core/v1:PersistentVolumeClaim"
)

// Stateful gives, by type, what goes with a resource of it.
func Stateful() map[string]string {
	return map[string]string{
		typeBucket:  "its objects",
		typeVolume:  "metrics, logs and the Kubernetes datastore",
		typeKey:     "the only way to read what it encrypted",
		typeCluster: "steps that have not ended, and HDFS",
		typeClaim:   "the files of a workload",
	}
}

// podTemplates are the types whose pods are made anew when their template
// changes, its configuration's hash among the annotations (Kubernetes docs,
// "Deployments", "DaemonSet", "StatefulSets": rollout).
var podTemplates = []string{"kubernetes:apps/v1:Deployment", "kubernetes:apps/v1:DaemonSet", "kubernetes:apps/v1:StatefulSet"}

// stopped are the fields of an instance for whose change EC2 stops and starts
// it (EC2 User Guide, "Change the instance type").
var stopped = []string{"instanceType", "ebsOptimized", "cpuOptions"}

// restarts tells whether an update in place makes what runs start again.
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
	return typ == typeInstance && within(stopped...)
}
