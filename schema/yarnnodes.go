package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Properties of yarn-site that bound containers.
const (
	yarnSite   = "yarn-site"
	capacity   = "capacity-scheduler"
	nodeMemory = "yarn.nodemanager.resource.memory-mb"
	nodeVCores = "yarn.nodemanager.resource.cpu-vcores"

	leastMemory, leastVCores = "yarn.scheduler.minimum-allocation-mb", "yarn.scheduler.minimum-allocation-vcores"
	mostMemory, mostVCores   = "yarn.scheduler.maximum-allocation-mb", "yarn.scheduler.maximum-allocation-vcores"
)

// machines are those on which a cluster runs Spark.
type machines struct {
	primary string   // instance type
	workers []string // instance types of nodes with YARN's containers
	hbase   bool     // takes a part of the workers' memory
}

// node is what YARN gives one container of a node at most: what the node has, or what the
// scheduler allows.
type node struct {
	instanceType      string
	memoryMiB, vcores int
	ownMemoryMiB      int  // without the scheduler's limit
	estimated         bool // the node may have less
}

// nodes returns what YARN has of the workers' types, of each once. It leaves out those
// that nobody knows.
func (m machines) nodes(s settings) []node {
	var out []node
	for _, name := range slices.Compact(slices.Sorted(slices.Values(m.workers))) {
		if n, known := m.nodeOf(s, name); known {
			out = append(out, n)
		}
	}
	return out
}

// nodeOf returns what YARN has of a type, unless the configuration says otherwise.
func (m machines) nodeOf(s settings, name string) (node, bool) {
	t, known := facts.InstanceTypeNamed(name)
	n := node{instanceType: name, memoryMiB: t.YARNMemoryMiB(), vcores: t.YARNVCores(), estimated: m.hbase}
	if m.hbase {
		n.memoryMiB = t.YARNMemoryBesideHBaseMiB()
	}
	for property, into := range map[string]*int{nodeMemory: &n.memoryMiB, nodeVCores: &n.vcores} {
		if v, ok := s.value(yarnSite, property); ok {
			set, err := strconv.Atoi(v.value)
			known = known && err == nil
			*into = set
		}
	}
	n.ownMemoryMiB = n.memoryMiB
	for property, into := range map[string]*int{mostMemory: &n.memoryMiB, mostVCores: &n.vcores} {
		if v, ok := s.value(yarnSite, property); ok {
			if set, err := strconv.Atoi(v.value); err == nil {
				*into = min(*into, set)
			}
		}
	}
	return n, known && n.vcores > 0
}

// offer says in words what a container must fit into, and how there can be more of it.
func (n node) offer() (rule, remedy string) {
	if n.memoryMiB < n.ownMemoryMiB {
		return fmt.Sprintf("fit into %s, %d MiB", mostMemory, n.memoryMiB), "raise " + mostMemory
	}
	beside := ""
	if n.estimated {
		beside = " beside HBase"
	}
	return fmt.Sprintf("fit into what YARN has of %s%s, %d MiB", n.instanceType, beside, n.memoryMiB), "use a larger type"
}

// checkDecommissioning warns of settings by which nodes that leave lose their work, whatever
// their author meant (EMR Release Guide, "Configure node decommissioning behavior": the first
// name is that of releases before 5.12, and -1 is at once on EMR).
func checkDecommissioning(l *violation.List, s settings) {
	const former, current = "yarn.resourcemanager.decommissioning.timeout",
		"yarn.resourcemanager.nodemanager-graceful-decommission-timeout-secs"
	v, set := s.value(yarnSite, former)
	l.Warn(!set, v.path, v.value, "should have the name that YARN reads since emr-5.12.0", "write "+current)
	v, _ = s.value(yarnSite, current)
	l.Warn(strings.TrimSpace(v.value) != "-1", v.path, v.value, "should be above 0: on EMR -1 ends the containers of a leaving node at once",
		"write how long they may go on, such as 3600")
	v, set = s.value(yarnSite, "yarn.resourcemanager.node-removal-untracked.timeout")
	l.Warn(!set, v.path, v.value, "should end in -ms: YARN does not read it", "write yarn.resourcemanager.node-removal-untracked.timeout-ms")
}

// checkYARN refuses bounds with which the resource manager or a node manager does not
// start (Hadoop, CapacityScheduler.validateConf and Configuration.getInt).
func checkYARN(l *violation.List, s settings) {
	read := func(property string) (v setting, n int, ok bool) {
		v, set := s.value(yarnSite, property)
		n, err := strconv.Atoi(strings.TrimSpace(v.value))
		l.Require(!set || err == nil, v.path, v.value, "must be a whole number: YARN does not start otherwise",
			"write it as digits, without a unit")
		return v, n, set && err == nil
	}
	for _, p := range []struct{ least, most, node string }{
		{leastMemory, mostMemory, nodeMemory}, {leastVCores, mostVCores, nodeVCores},
	} {
		_, least, bounded := read(p.least)
		most, n, ok := read(p.most)
		l.Require(!ok || n > 0 && (!bounded || n >= least), most.path, most.value,
			"must be above 0 and at least "+p.least+": the resource manager does not start otherwise", "raise it")
		if v, n, ok := read(p.node); ok {
			l.Require(n > 0 || n == -1, v.path, v.value, "must be above 0: YARN has no containers otherwise", "raise it")
		}
	}
}
