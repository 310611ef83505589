package doctor

import (
	"regexp"
	"strconv"
	"strings"
)

// instanceType is a family of letters and digits, and a size.
var instanceType = regexp.MustCompile(`^([a-z]+)\d[a-z0-9-]*\.(?:(nano|micro|small|medium|large)|(\d*)xlarge)$`)

// irregular are types of more vCPUs than their size says (EC2 User Guide,
// "Previous generation instances").
var irregular = map[string]int{"c4.8xlarge": 36, "d2.8xlarge": 36}

// vcpus returns how many vCPUs an instance of the families A, C, D, H, I, M, R, T
// and Z has, which share one quota (EC2 User Guide, "Amazon EC2 instance type
// quotas"): two for large, four times the factor for xlarge. It is false for types
// of other quotas. Burstable types below large may have fewer.
func vcpus(name string) (int, bool) {
	if n, ok := irregular[name]; ok {
		return n, true
	}
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

// vcpus returns the vCPUs of all instances of one market.
func (n Needs) vcpus(spot bool) int {
	sum := 0
	for _, i := range n.Instances {
		if each, ok := vcpus(i.Type); ok && i.Spot == spot {
			sum += each * i.Count
		}
	}
	return sum
}
