package doctor

import (
	"regexp"
	"strconv"
	"strings"
)

// instanceType is a family of letters and digits, and a size.
var instanceType = regexp.MustCompile(`^([a-z]+)\d[a-z0-9-]*\.(?:(nano|micro|small|medium|large)|(\d*)xlarge)$`)

// standardVCPUs returns how many vCPUs the size of an instance of the families A, C, D,
// H, I, M, R, T and Z says, which share one quota (EC2 User Guide, "Amazon EC2 instance
// type quotas"): two for large, four times the factor for xlarge. It is false for types
// of other quotas. Some types of previous generations and burstable ones below large
// have other numbers.
func standardVCPUs(name string) (int, bool) {
	m := instanceType.FindStringSubmatch(name)
	if m == nil || !strings.Contains("acdhimrtz", m[1][:1]) {
		return 0, false
	}
	switch m[1] {
	case "dl", "hpc", "inf", "mac", "trn":
		return 0, false
	}
	switch {
	case m[2] == "medium" && m[1] != "t":
		return 1, true
	case m[2] != "":
		return 2, true
	case m[3] == "":
		return 4, true
	}
	factor, err := strconv.Atoi(m[3])
	return 4 * factor, err == nil
}

// vcpusOf returns the vCPUs of an instance, and whether the standard quota counts them.
func (n Needs) vcpusOf(instanceType string) (int, bool) {
	count, standard := standardVCPUs(instanceType)
	if standard && n.VCPUs != nil {
		if known := n.VCPUs(instanceType); known > 0 {
			return known, true
		}
	}
	return count, standard
}

// vcpus returns the vCPUs of all instances of one market.
func (n Needs) vcpus(spot bool) int {
	sum := 0
	for _, i := range n.Instances {
		if each, ok := n.vcpusOf(i.Type); ok && i.Spot == spot {
			sum += each * i.Count
		}
	}
	return sum
}
