package emr

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/components/internal/fault"
)

var (
	instanceType = regexp.MustCompile(`^[a-z][a-z0-9-]*\.(\d*x?large|medium|small|micro|nano|metal(-\d+xl)?)$`)
	price        = regexp.MustCompile(`^\d{1,3}(\.\d{1,5})?$`)
)

func (a *Args) validateGroups(l *fault.List) {
	validateGroup(l, "emr.master", a.Master)
	l.Unless(a.Master.Count == 1 || a.Master.Count == 3, "emr.master.count", a.Master.Count, "must be 1, or 3 for a cluster that survives the loss of one", "set it to 1")
	l.Unless(a.Master.BidPrice == "" || a.Ephemeral, "emr.master.bidPrice", a.Master.BidPrice, "must be empty: losing the primary node ends the cluster", "run it on demand")
	validateGroup(l, "emr.core", a.Core)
	l.Unless(a.Core.Count >= 1, "emr.core.count", a.Core.Count, "must be at least 1: HDFS lives there", "set it to 1 or more")
	if a.Task == nil {
		return
	}
	validateGroup(l, "emr.task", *a.Task)
	// terraform-provider-aws#38837: a group of 0 still starts one node.
	l.Unless(a.Task.Count >= 1, "emr.task.count", a.Task.Count, "must be at least 1: EMR's provider starts a node even for 0", "leave the task group out")
	for i, v := range a.Task.EBS {
		l.Unless(v.Throughput == 0, fmt.Sprintf("emr.task.ebs[%d].throughput", i), v.Throughput, "must be 0: the provider cannot set it on task groups", "remove it")
	}
}

func validateGroup(l *fault.List, at string, g InstanceGroup) {
	l.Unless(instanceType.MatchString(g.InstanceType), at+".instanceType", g.InstanceType, "must be an EC2 instance type", "write e.g. m5.xlarge")
	l.Unless(g.BidPrice == "" || price.MatchString(g.BidPrice) && strings.Trim(g.BidPrice, "0.") != "", at+".bidPrice", g.BidPrice, "must be a price in USD per hour above 0", "write e.g. 0.12, or nothing for on demand")
	for i, v := range g.EBS {
		path := fmt.Sprintf("%s.ebs[%d]", at, i)
		validateVolume(l, path, v)
		same := func(o Volume) bool { o.PerInstance, v.PerInstance = 0, 0; return o == v }
		l.Unless(!slices.ContainsFunc(g.EBS[:i], same), path, v, "must differ from the others: the provider reads equal volumes back as one", "raise perInstance of the first")
	}
}

// kind is what a volume type allows (EMR API, VolumeSpecification; EBS User
// Guide, "Amazon EBS volume types"). Zero bounds forbid the setting.
type kind struct {
	minGiB, maxGiB         int
	minIOPS, maxIOPS       int
	iopsPerGiB             int
	needsIOPS              bool
	minThroughput, maxMiBs int
}

// kinds: io2 is left out because EMR's API does not list it. EMR's text says
// 1024 GiB at most; larger volumes are in use, so EBS's own bound holds.
func kinds() map[string]kind {
	return map[string]kind{
		"gp3":      {minGiB: 10, maxGiB: 16384, minIOPS: 3000, maxIOPS: 16000, iopsPerGiB: 500, minThroughput: 125, maxMiBs: 1000},
		"gp2":      {minGiB: 10, maxGiB: 16384},
		"io1":      {minGiB: 10, maxGiB: 16384, minIOPS: 100, maxIOPS: 64000, iopsPerGiB: 50, needsIOPS: true},
		"st1":      {minGiB: 125, maxGiB: 16384},
		"sc1":      {minGiB: 125, maxGiB: 16384},
		"standard": {minGiB: 10, maxGiB: 1024},
	}
}

// maxVolumes per instance: EC2 attaches at least this many to every current
// type beside the root volume (EC2 User Guide, "Volume limits").
const maxVolumes = 24

func validateVolume(l *fault.List, at string, v Volume) {
	k, known := kinds()[v.Type]
	if l.Unless(known, at+".type", v.Type, "must be gp3, gp2, io1, st1, sc1 or standard", "use gp3"); !known {
		return
	}
	l.Unless(v.SizeGiB >= k.minGiB && v.SizeGiB <= k.maxGiB, at+".sizeGiB", v.SizeGiB, fmt.Sprintf("must be %d to %d for %s", k.minGiB, k.maxGiB, v.Type), "set it within")
	l.Unless(v.PerInstance >= 0 && v.PerInstance <= maxVolumes, at+".perInstance", v.PerInstance, fmt.Sprintf("must be 1 to %d", maxVolumes), "use fewer, larger volumes")
	switch {
	case v.IOPS == 0:
		l.Unless(!k.needsIOPS, at+".iops", v.IOPS, "must be given for "+v.Type, fmt.Sprintf("set %d to %d", k.minIOPS, k.maxIOPS))
	case k.maxIOPS == 0:
		l.Unless(false, at+".iops", v.IOPS, "must be 0 for "+v.Type, "remove it, or use gp3")
	default:
		l.Unless(v.IOPS >= k.minIOPS && v.IOPS <= k.maxIOPS, at+".iops", v.IOPS, fmt.Sprintf("must be %d to %d for %s", k.minIOPS, k.maxIOPS, v.Type), "set it within")
		l.Unless(v.IOPS <= v.SizeGiB*k.iopsPerGiB, at+".iops", v.IOPS, fmt.Sprintf("must be at most %d for each GiB of %s", k.iopsPerGiB, v.Type), "enlarge the volume or ask for less")
	}
	validateThroughput(l, at, v, k)
}

func validateThroughput(l *fault.List, at string, v Volume, k kind) {
	if v.Throughput == 0 {
		return
	}
	l.Unless(k.maxMiBs > 0, at+".throughput", v.Throughput, "must be 0 for "+v.Type, "remove it, or use gp3")
	if k.maxMiBs == 0 {
		return
	}
	l.Unless(v.Throughput >= k.minThroughput && v.Throughput <= k.maxMiBs, at+".throughput", v.Throughput, fmt.Sprintf("must be %d to %d MiB/s for %s", k.minThroughput, k.maxMiBs, v.Type), "set it within")
	const iopsPerMiBs = 4 // 0.25 MiB/s for each provisioned IOPS
	l.Unless(v.Throughput*iopsPerMiBs <= max(v.IOPS, k.minIOPS), at+".throughput", v.Throughput, "must be at most a quarter of the IOPS", "raise iops or ask for less")
}
