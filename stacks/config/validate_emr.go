package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

var (
	releaseLabel = regexp.MustCompile(`^emr-(\d{1,2})\.(\d{1,2})\.(\d{1,2})$`)
	price        = regexp.MustCompile(`^\d{1,3}(\.\d{1,5})?$`)
	secretWord   = regexp.MustCompile(`(?i)(secret|password|passwd|token|(secret|access|api)[.-]?key)$`)
)

// applications of EMR 6.15 to 7.x (Release Guide, "Application versions").
var applications = []string{
	"AmazonCloudWatchAgent", "Flink", "HBase", "HCatalog", "Hadoop", "Hive", "Hue", "JupyterEnterpriseGateway", "JupyterHub",
	"Livy", "MXNet", "Oozie", "Phoenix", "Pig", "Presto", "Spark", "Sqoop", "TensorFlow", "Tez", "Trino", "Zeppelin", "ZooKeeper",
}

// agentKeys carry the observatory's agent; a user's value would replace it
// whole (spark-defaults are merged by key, not appended).
var agentKeys = []string{"spark.driver.defaultJavaOptions", "spark.executor.defaultJavaOptions"}

func (v *validator) emr(c Config) {
	e := c.EMR
	v.check(supportedRelease(e.ReleaseLabel), "emr.releaseLabel", e.ReleaseLabel, "")
	v.each("emr.applications", e.Applications, func(a string) bool { return slices.Contains(applications, a) }, "known: "+strings.Join(applications, ", "))
	v.check(slices.Contains(e.Applications, "Spark"), "emr.applications", e.Applications, "add Spark")
	v.each("emr.architectures", e.Architectures, func(a string) bool { return slices.Contains(platform.Architectures(), a) }, "")
	v.check(e.IdleTimeoutMinutes == 0 || within(e.IdleTimeoutMinutes, 1, 10080), "emr.idleTimeoutMinutes", e.IdleTimeoutMinutes, "")
	v.checkRule(!c.Ephemeral || !e.TerminationProtection, "emr.terminationProtection", e.TerminationProtection,
		"must be false in an ephemeral stack: destroy would be refused", "set ephemeral or emr.terminationProtection to false")

	v.architectures(e)
	v.group("emr.master", e.Master)
	v.check(e.Master.Count == 1 || e.Master.Count == 3, "emr.master.count", e.Master.Count, "")
	v.checkRule(e.Master.BidPrice == "" || c.Ephemeral, "emr.master.bidPrice", e.Master.BidPrice,
		"must be empty unless the stack is ephemeral: losing the primary node loses the cluster", "run the primary node on demand")
	v.group("emr.core", e.Core)
	v.check(e.Core.Count >= 1, "emr.core.count", e.Core.Count, "")
	if e.Task != nil {
		v.group("emr.task", *e.Task)
		v.check(e.Task.Count >= 1, "emr.task.count", e.Task.Count, "leave emr.task out for no task nodes; a group of 0 still starts one (terraform-provider-aws#38837)")
	}
	v.sparkDefaults(e.SparkDefaults)
}

// architectures holds that each group's own nodes find their artifacts.
func (v *validator) architectures(e EMR) {
	wanted := []string{e.Master.InstanceType, e.Core.InstanceType}
	if e.Task != nil {
		wanted = append(wanted, e.Task.InstanceType)
	}
	for _, t := range wanted {
		arch := Arch(t)
		if !slices.Contains(e.Architectures, arch) {
			v.check(false, "emr.architectures", e.Architectures, "add "+arch+", which "+t+" has")
			return
		}
	}
}

func (v *validator) group(path string, g InstanceGroup) {
	v.check(instanceType.MatchString(g.InstanceType), path+".instanceType", g.InstanceType, "")
	v.check(g.BidPrice == "" || price.MatchString(g.BidPrice) && strings.Trim(g.BidPrice, "0.") != "", path+".bidPrice", g.BidPrice, "")
	for i, e := range g.EBS {
		v.volume(fmt.Sprintf("%s.ebs[%d]", path, i), e)
	}
}

func (v *validator) volume(path string, e Volume) {
	v.check(slices.Contains([]string{"gp3", "gp2", "io1", "st1", "sc1", "standard"}, e.Type), path+".type", e.Type, "")
	smallest := 10
	if e.Type == "st1" || e.Type == "sc1" {
		smallest = 125
	}
	v.check(within(e.SizeGiB, smallest, 16384), path+".sizeGiB", e.SizeGiB, "")
	v.check(e.IOPS == 0 || e.Type == "gp3" && within(e.IOPS, 3000, 16000) || e.Type == "io1" && within(e.IOPS, 100, 64000), path+".iops", e.IOPS, "")
	v.check(e.Throughput == 0 || e.Type == "gp3" && within(e.Throughput, 125, 1000), path+".throughput", e.Throughput, "")
	v.check(within(e.PerInstance, 1, 24), path+".perInstance", e.PerInstance, "")
}

func (v *validator) sparkDefaults(properties map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(properties)) {
		path := "emr.sparkDefaults." + k
		remedy := "write the property's full name"
		ok := strings.HasPrefix(k, "spark.")
		switch {
		case slices.Contains(agentKeys, k):
			ok, remedy = false, "use "+strings.Replace(k, "default", "extra", 1)+", which Spark adds to it"
		case secretWord.MatchString(k):
			// The value itself is not shown. DescribeCluster would show it to
			// anyone, and its masked form replaces the cluster at each update.
			v.checkRule(false, path, hidden, ruleOf("emr.sparkDefaults"), "read it from Secrets Manager in the job")
			continue
		}
		v.checkRule(ok, path, properties[k], ruleOf("emr.sparkDefaults"), remedy)
	}
}

func supportedRelease(label string) bool {
	m := releaseLabel.FindStringSubmatch(label)
	if m == nil {
		return false
	}
	major, _ := strconv.Atoi(m[1]) // two digits by the pattern
	minor, _ := strconv.Atoi(m[2])
	return major > 6 || major == 6 && minor >= 15
}
