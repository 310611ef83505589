package rules

import (
	"regexp"
	"strconv"

	"github.com/emr-observatory/emr-observatory/simulator/emrlimits"
)

const storageGuide = "EMR Management Guide, Instance storage"

// volumesFitInstance accepts ebsConfigs with at most emrlimits.MaxVolumes volumes together.
func volumesFitInstance(v any) bool {
	configs, _ := v.([]any)
	total := 0.0
	for _, c := range configs {
		o, _ := c.(object)
		if n, ok := numberField(o, "volumesPerInstance"); ok {
			total += n
		} else if !isSet(o, "volumesPerInstance") {
			total++
		}
	}
	return total <= emrlimits.MaxVolumes
}

// applicationReleases maps applications to their first and last release, as
// major*100+minor, if not every release since 6.15 has them.
func applicationReleases() map[string][2]int {
	return map[string][2]int{"AmazonCloudWatchAgent": {700, 9999}, "Ganglia": {0, 615}, "MXNet": {0, 702}, "Sqoop": {0, 704}}
}

// applicationsExistInRelease accepts applications that the release label has.
func applicationsExistInRelease(o object) bool {
	label, ok := stringField(o, "releaseLabel")
	m := regexp.MustCompile(`^emr-(\d+)\.(\d+)\.`).FindStringSubmatch(label)
	names, _ := o["applications"].([]any)
	if !ok || m == nil {
		return true
	}
	major, errMajor := strconv.Atoi(m[1])
	minor, errMinor := strconv.Atoi(m[2])
	release := major*100 + minor
	for _, n := range names {
		name, _ := n.(string)
		if span, limited := applicationReleases()[name]; limited && (release < span[0] || release > span[1]) {
			return false
		}
	}
	return errMajor == nil && errMinor == nil
}

func isEMRVolumePerformance(o object) bool {
	throughput, ok := numberField(o, "throughput")
	return volumePerformance(o, "type") && (!ok || throughput <= 1000)
}

// applications lists the applications of EMR 6.15 to 7.x in the spelling of the
// Release Guide. EMR itself ignores case.
func applications() []string {
	return []string{
		"AmazonCloudWatchAgent", "Delta", "Flink", "Ganglia", "HBase", "HCatalog", "Hadoop", "Hive", "Hudi", "Hue", "Iceberg",
		"JupyterEnterpriseGateway", "JupyterHub", "Livy", "MXNet", "Oozie",
		"Phoenix", "Pig", "Presto", "Spark", "Sqoop", "Tez", "TensorFlow", "Trino",
		"Zeppelin", "ZooKeeper",
	}
}

func groupsOrFleets(o object) bool {
	groups := isSet(o, "masterInstanceGroup") || isSet(o, "coreInstanceGroup")
	return !groups || !isSet(o, "masterInstanceFleet") && !isSet(o, "coreInstanceFleet")
}

func threeMastersHaveCore(o object) bool {
	master, ok := o["masterInstanceGroup"].(object)
	if !ok {
		return true
	}
	n, ok := numberField(master, "instanceCount")
	return !ok || n != 3 || isSet(o, "coreInstanceGroup")
}

func concurrentStepsContinue(o object) bool {
	level, ok := numberField(o, "stepConcurrencyLevel")
	steps, hasSteps := o["steps"].([]any)
	if !ok || level <= 1 || !hasSteps {
		return true
	}
	for _, s := range steps {
		if step, ok := s.(object); ok {
			if action, ok := stringField(step, "actionOnFailure"); ok && action != "CONTINUE" {
				return false
			}
		}
	}
	return true
}

func scalingPolicyHasRole(o object) bool {
	core, ok := o["coreInstanceGroup"].(object)
	return !ok || !isSet(core, "autoscalingPolicy") || isSet(o, "autoscalingRole")
}

func isMasterSpread(o object) bool {
	role, hasRole := stringField(o, "instanceRole")
	strategy, hasStrategy := stringField(o, "placementStrategy")
	return (!hasRole || role == "MASTER") && (!hasStrategy || strategy == "SPREAD")
}

func validComputeLimits(o object) bool {
	unit, ok := stringField(o, "unitType")
	if ok && !oneOf("InstanceFleetUnits", "Instances", "VCPU")(unit) {
		return false
	}
	low, hasLow := numberField(o, "minimumCapacityUnits")
	high, hasHigh := numberField(o, "maximumCapacityUnits")
	if !hasLow || !hasHigh {
		return true
	}
	for _, part := range []string{"maximumCoreCapacityUnits", "maximumOndemandCapacityUnits"} {
		if n, set := numberField(o, part); set && n > high {
			return false
		}
	}
	return low >= 1 && low <= high
}
