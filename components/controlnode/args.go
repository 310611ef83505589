package controlnode

import (
	"errors"
	"net/netip"
	"regexp"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	boot "github.com/emr-observatory/emr-observatory/assets/controlnode"
	"github.com/emr-observatory/emr-observatory/components/internal/fault"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Args says what to build. Plain values are needed to plan; Validate checks
// them.
type Args struct {
	Region        string // required, us-east-1
	InstanceType  string // required, of a Nitro family: m7g.large
	Arch          string // required, platform.ArchAMD64 or platform.ArchARM64; must fit InstanceType
	PrivateIP     string // IPv4 in the subnet; "" = the subnet allots one, which then stays
	DataVolumeGiB int    // required, platform.ValidDataVolume; may grow, never shrink
	Ephemeral     bool   // true = the data volume goes with the stack

	// AMI is the image to start from. "" = the newest Amazon Linux 2023 at
	// creation, kept from then on: a new release is no reason to replace the
	// node. Naming one replaces the instance.
	AMI string

	// Mirror is a prefix that holds the files of the K3s release, for networks
	// without a way to GitHub: https://… or s3://<data bucket>/artifacts/…,
	// ending in a slash. With it, K3s's system images come from there too.
	// "" = the release on GitHub, system images from public registries.
	Mirror string

	SubnetID        pulumi.StringInput // required, private
	VPCID           pulumi.StringInput // required; recorded with the component
	SecurityGroupID pulumi.StringInput // required
	Bucket          pulumi.StringInput // required, name of the data bucket
	BucketARN       pulumi.StringInput // required
	KMSKeyARN       pulumi.StringInput // required; disks, parameters and the bucket's objects

	// AvailabilityZone is the subnet's. nil = looked up. Give it where it is
	// known: the data volume's place must not depend on what a preview cannot
	// know.
	AvailabilityZone pulumi.StringInput

	Tags map[string]string // added to every resource that can carry tags
}

var (
	instanceType = regexp.MustCompile(`^[a-z][a-z0-9-]*\.[a-z0-9-]+$`)
	// Graviton families carry a g among the attributes after the generation:
	// m7g, c6gn, r8gd, t4g, g5g; and a1. g4dn is not one.
	graviton = regexp.MustCompile(`^(a1|[a-z]+\d+[a-z]*g[a-z]*)\.`)
	imageID  = regexp.MustCompile(`^ami-[0-9a-f]{8,17}$`)
)

// Validate reports every fault of the arguments at once. It asks nothing of
// AWS.
func (a *Args) Validate() error {
	if a == nil {
		return errors.New("controlNode: arguments are nil; pass *controlnode.Args")
	}
	var l fault.List
	l.Unless(fault.Region.MatchString(a.Region), "controlNode.region", a.Region, "must be an AWS region", "name one, e.g. us-east-1")
	_, known := platform.K3sBinaries[a.Arch]
	l.Unless(known, "controlNode.arch", a.Arch, "must be "+platform.ArchAMD64+" or "+platform.ArchARM64, "name the architecture of the instance type")
	typed := instanceType.MatchString(a.InstanceType)
	l.Unless(typed, "controlNode.instanceType", a.InstanceType, "must be <family>.<size>", "name one, e.g. m7g.large")
	l.Unless(!known || !typed || graviton.MatchString(a.InstanceType) == (a.Arch == platform.ArchARM64),
		"controlNode.instanceType", a.InstanceType, "must have the architecture "+a.Arch, "change arch, or take another family (Graviton families are "+platform.ArchARM64+")")
	ip, err := netip.ParseAddr(a.PrivateIP)
	l.Unless(a.PrivateIP == "" || err == nil && ip.Is4() && ip.IsPrivate(), "controlNode.privateIp", a.PrivateIP, "must be a private IPv4 address", "name a free one of the subnet, or leave it empty")
	l.Unless(platform.ValidDataVolume(a.DataVolumeGiB), "controlNode.dataVolumeGiB", a.DataVolumeGiB, platform.DataVolumeRule(), "start with 100; it can grow later")
	l.Unless(a.AMI == "" || imageID.MatchString(a.AMI), "controlNode.ami", a.AMI, "must be ami- and hexadecimal digits", "leave it empty for Amazon Linux 2023")
	l.Unless(boot.ValidMirror(a.Mirror), "controlNode.mirror", a.Mirror, "must be an https:// or s3:// prefix that ends with a slash", "leave it empty for GitHub")
	for _, in := range []struct {
		path  string
		value pulumi.StringInput
	}{
		{"subnetId", a.SubnetID}, {"vpcId", a.VPCID}, {"securityGroupId", a.SecurityGroupID},
		{"bucket", a.Bucket}, {"bucketArn", a.BucketARN}, {"kmsKeyArn", a.KMSKeyARN},
	} {
		l.Unless(in.value != nil, "controlNode."+in.path, nil, "must be given", "pass the output of the network or storage component")
	}
	l.Tags("controlNode.tags", a.Tags, "Name")
	return l.Join()
}
