package facts

import (
	_ "embed" // the data files
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// InstanceTypes is the file of the EC2 instance types that EMR takes.
type InstanceTypes struct {
	Source   string         `json:"source"`
	Date     string         `json:"date"` // of the source
	Refresh  string         `json:"refresh"`
	Releases []string       `json:"releases"` // oldest first
	Families []Family       `json:"families"`
	Types    []InstanceType `json:"types"`
}

// Family is a family of EC2 instance types, whether or not EMR takes it.
type Family struct {
	Name  string `json:"family"`
	Arch  string `json:"arch"`            // x86_64 or arm64
	Nitro bool   `json:"nitro,omitempty"` // false for those on Xen, and where EC2 says nothing
}

// InstanceType is an EC2 instance type that at least one of the releases takes.
type InstanceType struct {
	Name      string   `json:"type"`
	VCPUs     int      `json:"vcpus"`
	MemoryMiB int      `json:"memoryMiB"`
	EMR       EMR      `json:"emr"`
	Arch      string   `json:"arch"`             // x86_64 or arm64
	Stores    *Stores  `json:"stores,omitempty"` // nil = none
	EBS       *EBS     `json:"ebs,omitempty"`    // nil = EC2 does not answer for the type any more
	Network   string   `json:"network,omitempty"`
	NotIn     []string `json:"notIn,omitempty"` // releases that do not take it
}

// EMR has what EMR counts on a type, from which it configures YARN.
type EMR struct {
	VCPUs     int `json:"vcpus"`     // of some older types twice those of EC2
	MemoryMiB int `json:"memoryMiB"` // of many types less than EC2's
}

// Stores are the instance stores of a type.
type Stores struct {
	Count int    `json:"count"`
	GB    int    `json:"gb"`
	Type  string `json:"type"` // ssd or hdd
	NVMe  bool   `json:"nvme,omitempty"`
}

// EBS has a type's limits for its EBS volumes together.
type EBS struct {
	Volumes      int `json:"volumes"`                // the root volume included
	BaselineMbps int `json:"baselineMbps,omitempty"` // 0 = EC2 names none
	MaxMbps      int `json:"maxMbps,omitempty"`
	BaselineIOPS int `json:"baselineIops,omitempty"`
	MaxIOPS      int `json:"maxIops,omitempty"`
}

//go:embed instances.json
var instancesJSON []byte

// Instances returns the file of instance types.
var Instances = sync.OnceValue(func() InstanceTypes { return parse[InstanceTypes]("instances.json", instancesJSON) })

// parse reads an embedded file, which the tests have read: it cannot fail.
func parse[T any](name string, data []byte) T {
	var out T
	if err := json.Unmarshal(data, &out); err != nil {
		panic(fmt.Sprintf("facts: read %s: %v", name, err))
	}
	return out
}

// InstanceTypeNamed returns a type that EMR takes.
func InstanceTypeNamed(name string) (InstanceType, bool) {
	return named(Instances().Types, name, func(t InstanceType) string { return t.Name })
}

// named returns the entry of a list, sorted by names, that has a name.
func named[T any](sorted []T, name string, nameOf func(T) string) (entry T, found bool) {
	i, found := slices.BinarySearchFunc(sorted, name, func(e T, n string) int { return strings.Compare(nameOf(e), n) })
	if found {
		entry = sorted[i]
	}
	return entry, found
}

// FamilyOf returns the family of an EC2 instance type.
func FamilyOf(instanceType string) (Family, bool) {
	name, _, _ := strings.Cut(instanceType, ".")
	return named(Instances().Families, name, func(f Family) string { return f.Name })
}

// OnNitro reports whether a type is built on the Nitro System. So are all of bare metal,
// that of an older family too, such as i3.metal, and families that are newer than the facts
// (EC2 User Guide, "Instances built on the AWS Nitro System").
func OnNitro(instanceType string) bool {
	family, known := FamilyOf(instanceType)
	_, size, _ := strings.Cut(instanceType, ".")
	return family.Nitro || !known || strings.HasPrefix(size, "metal")
}

// IsIn reports whether a release takes the type. A release that the file does not
// have takes what the newest one takes.
func (t InstanceType) IsIn(release string) bool {
	releases := Instances().Releases
	if !slices.Contains(releases, release) {
		release = releases[len(releases)-1]
	}
	return !slices.Contains(t.NotIn, release)
}
