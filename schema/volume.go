package schema

import (
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Volume describes the EBS volumes of one kind on each instance of a group.
type Volume struct {
	Type        string `json:"type" rule:"volumeType"`
	SizeGiB     int    `json:"sizeGiB" rule:"volumeSize"`
	IOPS        int    `json:"iops" rule:"iops"`
	Throughput  int    `json:"throughput" rule:"throughput"`
	PerInstance int    `json:"perInstance" rule:"perInstance"`
}

// Help describes the keys, for documents.
func (Volume) Help() map[string]string {
	return map[string]string{
		"type":        "EBS volume type.",
		"sizeGiB":     "Size in GiB.",
		"iops":        "IOPS; 0 for the type's own.",
		"throughput":  "MiB/s; 0 for the type's own. Not for task nodes.",
		"perInstance": "Volumes of this kind on each instance.",
	}
}

// SetDefaults sets the values of one gp3 volume. Its size has no default.
func (v *Volume) SetDefaults() { *v = Volume{Type: "gp3", PerInstance: 1} }

// VolumeKind has the limits of a volume type. A setting with zero bounds is not
// allowed.
type VolumeKind struct {
	Type                         string
	MinGiB, MaxGiB               int
	MinIOPS, MaxIOPS             int
	IOPSPerGiB                   int
	NeedsIOPS                    bool
	MinThroughput, MaxThroughput int // MiB/s
}

// Ratio of IOPS to throughput: a gp3 volume has at most 0.25 MiB/s for each
// provisioned IOPS (EBS User Guide, "General Purpose SSD volumes").
const iopsPerMiBs = 4

// maxVolumes: EMR attaches at most 25 volumes to an instance, of which one is
// the root volume (EMR Management Guide, "Instance storage").
const maxVolumes = 25 - 1

// documentedGiB is the largest size that EMR's API documents (EMR API, "VolumeSpecification").
const documentedGiB = 1024

// VolumeKinds returns the types of EMR's API (EMR API, "VolumeSpecification", which
// lacks io2) with the limits of EBS (EBS User Guide, "Amazon EBS volume types").
// EMR documents 1024 GiB at most, but accepts larger volumes.
func VolumeKinds() []VolumeKind {
	const minGiB, maxGiB, minHDDGiB, maxMagneticGiB = 10, 16384, 125, 1024
	return []VolumeKind{
		{
			Type: "gp3", MinGiB: minGiB, MaxGiB: maxGiB, MinIOPS: 3000, MaxIOPS: 16000, IOPSPerGiB: 500,
			MinThroughput: 125, MaxThroughput: 1000,
		},
		{Type: "gp2", MinGiB: minGiB, MaxGiB: maxGiB},
		{Type: "io1", MinGiB: minGiB, MaxGiB: maxGiB, MinIOPS: 100, MaxIOPS: 64000, IOPSPerGiB: 50, NeedsIOPS: true},
		{Type: "st1", MinGiB: minHDDGiB, MaxGiB: maxGiB},
		{Type: "sc1", MinGiB: minHDDGiB, MaxGiB: maxGiB},
		{Type: "standard", MinGiB: minGiB, MaxGiB: maxMagneticGiB},
	}
}

func kindOf(volumeType string) (VolumeKind, bool) {
	for _, k := range VolumeKinds() {
		if k.Type == volumeType {
			return k, true
		}
	}
	return VolumeKind{}, false
}

func volumeRules() map[string]Rule {
	types := []string{}
	var sizes, iops, throughput []string
	for _, k := range VolumeKinds() {
		types = append(types, k.Type)
		sizes = append(sizes, k.sizeText())
		if k.MaxIOPS > 0 {
			iops = append(iops, k.iopsText())
		}
		if k.MaxThroughput > 0 {
			throughput = append(throughput, k.throughputText())
		}
	}
	list := func(texts []string) string { return "must be " + strings.Join(texts, ", ") }
	return map[string]Rule{
		"volumeType":  oneOf(types...).with(" (EMR API, VolumeSpecification)", ""),
		"volumeSize":  textOnly(list(sizes)),
		"iops":        textOnly(list(iops) + ", else 0"),
		"throughput":  textOnly(list(throughput) + ", else 0"),
		"perInstance": intRange(1, maxVolumes),
	}
}

func (k VolumeKind) sizeText() string {
	return fmt.Sprintf("%d to %d for %s", k.MinGiB, k.MaxGiB, k.Type)
}

func (k VolumeKind) iopsText() string {
	text := fmt.Sprintf("%d to %d and at most %d per GiB for %s", k.MinIOPS, k.MaxIOPS, k.IOPSPerGiB, k.Type)
	if k.NeedsIOPS {
		text += " (required)"
	}
	return text
}

func (k VolumeKind) throughputText() string {
	return fmt.Sprintf("%d to %d and at most 1 per %d IOPS for %s", k.MinThroughput, k.MaxThroughput, iopsPerMiBs, k.Type)
}

// Validate adds the volume's violations to l.
func (v Volume) Validate(l *violation.List, path string) {
	checkFields(l, path, v)
	k, known := kindOf(v.Type)
	if !known {
		return
	}
	l.Require(inRange(v.SizeGiB, k.MinGiB, k.MaxGiB), path+".sizeGiB", v.SizeGiB, "must be "+k.sizeText(), "")
	l.Warn(v.SizeGiB <= documentedGiB, path+".sizeGiB", v.SizeGiB,
		fmt.Sprintf("should be %d GiB at most, the limit that EMR's API documents: accounts differ in what they accept beyond", documentedGiB),
		"use several volumes, with perInstance")
	v.checkIOPS(l, path+".iops", k)
	v.checkThroughput(l, path+".throughput", k)
}

func (v Volume) checkIOPS(l *violation.List, path string, k VolumeKind) {
	switch {
	case v.IOPS == 0:
		l.Require(!k.NeedsIOPS, path, v.IOPS, "must be "+k.iopsText(), "set it")
	case k.MaxIOPS == 0:
		l.Require(false, path, v.IOPS, "must be 0 for "+v.Type, "remove it, or use gp3")
	default:
		l.Require(inRange(v.IOPS, k.MinIOPS, min(k.MaxIOPS, v.SizeGiB*k.IOPSPerGiB)), path, v.IOPS, "must be "+k.iopsText(),
			"enlarge the volume or ask for less")
	}
}

func (v Volume) checkThroughput(l *violation.List, path string, k VolumeKind) {
	switch {
	case v.Throughput == 0:
	case k.MaxThroughput == 0:
		l.Require(false, path, v.Throughput, "must be 0 for "+v.Type, "remove it, or use gp3")
	default:
		iops := max(v.IOPS, k.MinIOPS)
		l.Require(inRange(v.Throughput, k.MinThroughput, min(k.MaxThroughput, iops/iopsPerMiBs)), path, v.Throughput,
			"must be "+k.throughputText(), "increase iops or ask for less")
	}
}

// sameKind reports whether two entries differ only in PerInstance.
func (v Volume) sameKind(o Volume) bool {
	o.PerInstance, v.PerInstance = 0, 0
	return o == v
}
