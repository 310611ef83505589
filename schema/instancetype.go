package schema

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// checkInstanceType requires that a release takes an instance type: EMR refuses
// others only when the cluster is asked for.
func checkInstanceType(l *violation.List, path, instanceType, release string) {
	if !isSupportedRelease(release) {
		labels := releaseLabels()
		release = labels[len(labels)-1] // another rule refuses the one set
	}
	t, known := facts.InstanceTypeNamed(instanceType)
	if known && t.IsIn(release) || !rules["emrInstanceType"].Holds(instanceType) {
		return // in the latter case by the field's own rule
	}
	remedy := "use " + joinOr(nextTypes(instanceType, release))
	if known {
		for _, other := range facts.Instances().Releases {
			if t.IsIn(other) {
				remedy += ", or a release that takes it: " + other + " does"
				break
			}
		}
	}
	l.Require(false, path, instanceType, "must be an instance type that "+release+" takes", remedy)
}

// checkImage requires that all nodes can start from an image of one's own (EMR Management
// Guide, "Using a custom AMI": the image has the architecture of the instances).
func (c Cluster) checkImage(l *violation.List, path string) {
	first := map[string]string{} // type by architecture
	var each []string
	for _, g := range c.Groups() {
		arch := Arch(g.InstanceType)
		if _, seen := first[arch]; !seen && rules["emrInstanceType"].Holds(g.InstanceType) {
			first[arch], each = g.InstanceType, append(each, g.InstanceType+" is "+arch)
		}
	}
	l.Require(c.CustomAMIID == "" || len(each) <= 1, path, c.CustomAMIID,
		"must be empty with types of two architectures, which one image cannot serve: "+strings.Join(each, ", "),
		"use types of the image's architecture, or leave it empty")
}

// typeName takes the name of an EC2 instance type apart (EC2 User Guide, "Instance
// type naming conventions"): class r, generation 5, options ad, size xlarge.
var typeName = regexp.MustCompile(`^([a-z]+?)(\d+)([a-z-]*)\.(?:(\d*)(x?large|medium|small|micro|nano)|metal.*)$`)

// nextTypes returns up to three types of a release that are like a name: of each
// family the nearest size, and of families the nearest.
func nextTypes(name, release string) []string {
	type candidate struct {
		name     string
		distance []float64
	}
	nearest := map[string]candidate{}
	for _, t := range facts.Instances().Types {
		if !t.IsIn(release) {
			continue
		}
		family, _, _ := strings.Cut(t.Name, ".")
		c := candidate{t.Name, typeDistance(name, t.Name)}
		if best, ok := nearest[family]; !ok || slices.Compare(c.distance, best.distance) < 0 {
			nearest[family] = c
		}
	}
	var all []candidate
	for _, c := range nearest {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(slices.Compare(a.distance, b.distance), strings.Compare(a.name, b.name))
	})
	const most = 3
	var out []string
	for _, c := range all[:min(most, len(all))] {
		out = append(out, c.name)
	}
	return out
}

// typeDistance compares two types: architecture, class, generation, options, size,
// the most important first. EMR takes no burstable types, class t: they are compared
// as the default, as is a name that cannot be read.
func typeDistance(from, to string) []float64 {
	a, b := typeName.FindStringSubmatch(from), typeName.FindStringSubmatch(to)
	if a == nil || a[1] == "t" {
		a = typeName.FindStringSubmatch(defaultInstanceType)
	}
	if b == nil {
		return []float64{math.Inf(1)}
	}
	return []float64{
		unequal(Arch(from), Arch(to)), unequal(a[1], b[1]), math.Abs(number(a[2]) - number(b[2])), unequal(a[3], b[3]),
		math.Abs(math.Log2(sizeOf(a) / sizeOf(b))),
	}
}

func unequal(a, b string) float64 {
	if a == b {
		return 0
	}
	return 1
}

func number(digits string) float64 {
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 1 // xlarge has no number
	}
	return n
}

// sizeOf returns the size in a name relative to xlarge.
func sizeOf(name []string) float64 {
	const metal = 96
	sizes := map[string]float64{"xlarge": 1, "large": 1. / 2, "medium": 1. / 4, "small": 1. / 8, "micro": 1. / 16, "nano": 1. / 32, "": metal}
	return sizes[name[5]] * number(name[4])
}

// Arch returns the architecture of an EC2 instance type, platform.ArchAMD64 or
// platform.ArchARM64. Of a family that is newer than the facts it reads the name: after
// the generation a leading g stands for Graviton (EC2 User Guide, "Instance type naming
// conventions").
func Arch(instanceType string) string {
	family, known := facts.FamilyOf(instanceType)
	if known && family.Arch == "arm64" || !known && graviton.MatchString(instanceType) {
		return platform.ArchARM64
	}
	return platform.ArchAMD64
}

var graviton = regexp.MustCompile(`^[a-z]+\d+g[a-z-]*\.`)
