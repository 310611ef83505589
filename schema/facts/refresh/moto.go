package main

import (
	"archive/zip"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// moto is the version of the package on PyPI that carries AWS's own answers.
const moto = "5.2.5"

// Files of the package: the answers of EMR's ListSupportedInstanceTypes in us-east-1,
// by release and by type (getmoto/moto, scripts/emr_get_releases.py), and of EC2's
// DescribeInstanceTypes (scripts/get_instance_types.py).
const (
	ofReleases = "moto/emr/resources/instance-types-emr-*.json.gz"
	ofEMR      = "moto/emr/resources/instance_types.json.gz"
	ofEC2      = "moto/ec2/resources/instance_types.json.gz"
)

// oldest is the oldest release that the program takes.
const oldest = "6.15.0"

// emrType is an entry of EMR's answer.
type emrType struct {
	Architecture  string
	MemoryGB      float64
	VCPU          int
	NumberOfDisks int
}

// ec2Type is an entry of EC2's answer.
type ec2Type struct {
	Hypervisor  string
	BareMetal   bool
	EBSInfo     ec2EBS `json:"EbsInfo"`
	MemoryInfo  struct{ SizeInMiB int }
	NetworkInfo struct{ NetworkPerformance string }
	VCPUInfo    struct {
		DefaultVCPUs int `json:"DefaultVCpus"`
	} `json:"VCpuInfo"`
	ProcessorInfo       struct{ SupportedArchitectures []string }
	InstanceStorageInfo *struct {
		NVMeSupport string `json:"NvmeSupport"`
		Disks       []struct {
			Count, SizeInGB int
			Type            string
		}
	}
}

type ec2EBS struct {
	MaximumEBSAttachments int `json:"MaximumEbsAttachments"`
	EBSOptimizedInfo      struct {
		BaselineBandwidthInMbps, MaximumBandwidthInMbps int
		BaselineIOPS                                    int `json:"BaselineIops"`
		MaximumIOPS                                     int `json:"MaximumIops"`
	} `json:"EbsOptimizedInfo"`
}

// download fetches the package with pip and returns its path.
func download(ctx context.Context, folder string) (string, error) {
	pip := exec.CommandContext(ctx, "python3", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
		"--dest", folder, "moto=="+moto)
	pip.Stdout, pip.Stderr = os.Stderr, os.Stderr
	if err := pip.Run(); err != nil {
		return "", fmt.Errorf("download moto %s from PyPI: %w", moto, err)
	}
	wheels, err := filepath.Glob(filepath.Join(folder, "moto-*.whl"))
	if err != nil || len(wheels) != 1 {
		return "", fmt.Errorf("pip left %d packages of moto in %s, not one", len(wheels), folder)
	}
	return wheels[0], nil
}

func refreshInstances(ctx context.Context, folder string) ([]byte, error) {
	wheel, err := download(ctx, folder)
	if err != nil {
		return nil, err
	}
	files, err := zip.OpenReader(wheel)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", wheel, err)
	}
	defer func() { _ = files.Close() }()
	return instances(files)
}

// instances renders instances.json from the package's files.
func instances(files fs.FS) ([]byte, error) {
	out := facts.InstanceTypes{
		Source: "PyPI moto " + moto + ": " + ofReleases + " and " + ofEMR + " (EMR's ListSupportedInstanceTypes in us-east-1), " +
			ofEC2 + " (EC2's DescribeInstanceTypes)",
		Refresh: "make facts",
	}
	info, err := fs.Stat(files, ofEMR)
	if err != nil {
		return nil, fmt.Errorf("read moto's files: %w", err)
	}
	out.Date = info.ModTime().UTC().Format(time.DateOnly)
	var byRelease map[string][]string
	var emr map[string]emrType
	var ec2 map[string]ec2Type
	if out.Releases, byRelease, err = releases(files); err == nil {
		err = read(files, ofEMR, &emr)
	}
	if err == nil {
		err = read(files, ofEC2, &ec2)
	}
	if err != nil {
		return nil, err
	}
	for name, e := range emr {
		t := instanceType(name, e, ec2)
		for _, label := range out.Releases {
			if !slices.Contains(byRelease[label], name) {
				t.NotIn = append(t.NotIn, label)
			}
		}
		if len(t.NotIn) < len(out.Releases) {
			out.Types = append(out.Types, t)
		}
	}
	slices.SortFunc(out.Types, func(a, b facts.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	out.Families = families(ec2, out.Types)
	return render(out)
}

// releases returns the releases' labels, oldest first, and their types.
func releases(files fs.FS) ([]string, map[string][]string, error) {
	names, err := fs.Glob(files, ofReleases)
	if err != nil {
		return nil, nil, fmt.Errorf("list moto's releases: %w", err)
	}
	var labels []string
	types := map[string][]string{}
	before, after, _ := strings.Cut(ofReleases, "*")
	for _, name := range names {
		version := strings.TrimSuffix(strings.TrimPrefix(name, before), after)
		if !semver.IsValid("v"+version) || semver.Prerelease("v"+version) != "" || semver.Compare("v"+version, "v"+oldest) < 0 {
			continue // emr-spark-8.0.0 too, which configuration refuses
		}
		var list []string
		if err := read(files, name, &list); err != nil {
			return nil, nil, err
		}
		labels = append(labels, "emr-"+version)
		types["emr-"+version] = list
	}
	slices.SortFunc(labels, func(a, b string) int {
		return semver.Compare("v"+strings.TrimPrefix(a, "emr-"), "v"+strings.TrimPrefix(b, "emr-"))
	})
	return labels, types, nil
}

func instanceType(name string, e emrType, ec2 map[string]ec2Type) facts.InstanceType {
	const mib = 1024
	own := facts.EMR{VCPUs: e.VCPU, MemoryMiB: int(math.Round(e.MemoryGB * mib))}
	t := facts.InstanceType{Name: name, VCPUs: own.VCPUs, MemoryMiB: own.MemoryMiB, Arch: "x86_64", EMR: own}
	if e.Architecture == "AARCH64" {
		t.Arch = "arm64"
	}
	c, answered := ec2[name]
	if !answered {
		return t
	}
	t.VCPUs, t.MemoryMiB, t.Network = c.VCPUInfo.DefaultVCPUs, c.MemoryInfo.SizeInMiB, c.NetworkInfo.NetworkPerformance
	o := c.EBSInfo.EBSOptimizedInfo
	t.EBS = &facts.EBS{
		Volumes: c.EBSInfo.MaximumEBSAttachments, BaselineMbps: o.BaselineBandwidthInMbps, MaxMbps: o.MaximumBandwidthInMbps,
		BaselineIOPS: o.BaselineIOPS, MaxIOPS: o.MaximumIOPS,
	}
	if s := c.InstanceStorageInfo; s != nil && len(s.Disks) > 0 {
		d := s.Disks[0] // no type has disks of two kinds
		t.Stores = &facts.Stores{Count: d.Count, GB: d.SizeInGB, Type: d.Type, NVMe: s.NVMeSupport == "required"}
	}
	return t
}

// families returns the instance families that EC2 lists, and those that EC2 no longer
// lists but EMR still supports. types are EMR's.
func families(ec2 map[string]ec2Type, types []facts.InstanceType) []facts.Family {
	byName := map[string]facts.Family{}
	for _, t := range types {
		name, _, _ := strings.Cut(t.Name, ".")
		byName[name] = facts.Family{Name: name, Arch: t.Arch}
	}
	for instance, c := range ec2 {
		name, _, _ := strings.Cut(instance, ".")
		f := byName[name]
		// A bare-metal type has no hypervisor and uses Nitro cards.
		f.Name, f.Nitro = name, f.Nitro || c.BareMetal && c.Hypervisor == "" || c.Hypervisor == "nitro"
		f.Arch = cmp.Or(f.Arch, c.ProcessorInfo.SupportedArchitectures[len(c.ProcessorInfo.SupportedArchitectures)-1])
		byName[name] = f
	}
	var out []facts.Family
	for _, f := range byName {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b facts.Family) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// read decodes a compressed JSON file.
func read(files fs.FS, name string, into any) error {
	f, err := files.Open(name)
	if err != nil {
		return fmt.Errorf("open moto's %s: %w", name, err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err == nil {
		err = json.NewDecoder(z).Decode(into)
	}
	if err != nil {
		return fmt.Errorf("read moto's %s: %w", name, err)
	}
	return nil
}
