package schema

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Limits of the root volume, which is gp3 from 6.15.0 on (EMR Management Guide,
// "Customizing the Amazon EBS root device volume"): its default size, which an image of
// one's own needs at least ("Using a custom AMI"), and the most that EMR takes.
const minRootGiB, maxRootGiB = 15, 100

// checkVolumeLimits checks a group's volumes by what EC2 attaches to the instance type,
// and warns of performance that the type cannot use.
func checkVolumeLimits(l *violation.List, path, instanceType string, volumes []Volume) {
	t, known := facts.InstanceTypeNamed(instanceType)
	if !known || t.EBS == nil {
		return
	}
	count, iops, throughput := 0, 0, 0
	for _, v := range volumes {
		count += v.PerInstance
		iops += v.PerInstance * v.IOPS
		throughput += v.PerInstance * v.Throughput
	}
	const root = 1
	l.Require(count+root <= t.EBS.Volumes, path, count,
		fmt.Sprintf("must be %d volumes at most on %s, beside the root volume", t.EBS.Volumes-root, instanceType), "use fewer, larger volumes")
	if most := t.EBS.MaxIOPS; most > 0 {
		l.Warn(iops <= most, path, iops, fmt.Sprintf("should be %d IOPS at most on %s, which its volumes have together", most, instanceType),
			"ask for less, or use a larger type")
	}
	if most := mibPerSecond(t.EBS.MaxMbps); most > 0 {
		l.Warn(throughput <= most, path, throughput,
			fmt.Sprintf("should be %d MiB/s at most on %s, which its volumes have together", most, instanceType),
			"ask for less, or use a larger type")
	}
}

// checkEBSOptimized refuses dedicated bandwidth for a type that has none to give: EC2
// names a bandwidth of every other one (EC2 User Guide, "EBS-optimized instance types").
func checkEBSOptimized(l *violation.List, g Group) {
	t, known := facts.InstanceTypeNamed(g.InstanceType)
	has := !known || t.EBS == nil || t.EBS.BaselineMbps > 0
	l.Require(has || !g.EBSOptimized, g.Path+".ebsOptimized", g.EBSOptimized, "must be false with "+g.InstanceType+
		", which offers no dedicated bandwidth to EBS", "remove it, or use another type: types since 2016 always have it")
}

// mibPerSecond turns the megabits of EC2 into the mebibytes of EBS.
func mibPerSecond(mbps int) int { return mbps * 1_000_000 / 8 / (1 << 20) }
