package config

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Validate reports every fault of the configuration at once, joined; each is
// a Fault. It asks nothing of AWS: whether a zone or a subnet exists is for
// the preview to find.
func (c Config) Validate() error { return errors.Join(c.validate(nil)...) }

func (c Config) validate(skip []string) []error {
	v := &validator{skip: skip}
	v.check(regionName.MatchString(c.Region), "region", c.Region, "choose one: `pulumi config set emr-observatory:region us-east-1`")
	v.tags(c.Tags)
	v.operators(c.OperatorCIDRs)
	v.network(c)
	v.controlNode(c)
	v.emr(c)
	for path, days := range map[string]int{
		"retention.tempoDays": c.Retention.TempoDays, "retention.pyroscopeDays": c.Retention.PyroscopeDays,
		"retention.victoriaMetricsDays": c.Retention.VictoriaMetricsDays, "retention.victoriaLogsDays": c.Retention.VictoriaLogsDays,
		"retention.logDays": c.Retention.LogDays,
	} {
		v.check(within(days, 1, 3650), path, days, "")
	}
	v.check(within(c.Retention.ArtifactDays, 0, 3650), "retention.artifactDays", c.Retention.ArtifactDays, "")
	for path, endpoint := range map[string]string{
		"awsEndpoints.ec2": c.AWSEndpoints.EC2, "awsEndpoints.emr": c.AWSEndpoints.EMR, "awsEndpoints.iam": c.AWSEndpoints.IAM,
		"awsEndpoints.kms": c.AWSEndpoints.KMS, "awsEndpoints.s3": c.AWSEndpoints.S3, "awsEndpoints.ssm": c.AWSEndpoints.SSM,
		"awsEndpoints.sts": c.AWSEndpoints.STS, "grafana.url": c.Grafana.URL,
	} {
		shown := endpoint
		if strings.Contains(endpoint, "@") {
			shown = hidden // credentials, most likely
		}
		v.check(endpoint == "" || origin(endpoint), path, shown, "leave path, query and credentials out")
	}
	slices.SortStableFunc(v.faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return v.faults
}

type validator struct {
	skip   []string // paths that could not be read: their fault is already told
	faults []error
}

// check records a fault of path unless ok; the rule is the one of the path's
// tag. An empty remedy stands for the command that sets the path.
func (v *validator) check(ok bool, path string, value any, remedy string) {
	v.checkRule(ok, path, value, ruleOf(path), remedy)
}

// checkRule is check with a rule of its own: an entry of a list or map, or a
// rule that spans fields.
func (v *validator) checkRule(ok bool, path string, value any, rule, remedy string) {
	unread := func(s string) bool { return path == s || strings.HasPrefix(path, s+".") }
	if ok || slices.ContainsFunc(v.skip, unread) {
		return
	}
	if remedy == "" {
		remedy = setRemedy(path)
	}
	v.faults = append(v.faults, Fault{path, show(value), rule, remedy})
}

// each checks the entries of a list: every one by itself, and that none
// comes twice.
func (v *validator) each(path string, entries []string, ok func(string) bool, remedy string) {
	for i, e := range entries {
		v.checkRule(ok(e) && !slices.Contains(entries[:i], e), fmt.Sprintf("%s[%d]", path, i), e, ruleOf(path), remedy)
	}
}

var (
	regionName   = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-\d{1,2}$`)
	tagText      = regexp.MustCompile(`^[\p{L}\p{N}\p{Z}_.:/=+\-@]*$`) // AWS Tagging: allowed characters
	vpcID        = regexp.MustCompile(`^vpc-([0-9a-f]{8}|[0-9a-f]{17})$`)
	subnetID     = regexp.MustCompile(`^subnet-([0-9a-f]{8}|[0-9a-f]{17})$`)
	serviceName  = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)*$`)
	instanceType = regexp.MustCompile(`^[a-z][a-z0-9-]*\.(\d*x?large|medium|small|micro|nano|metal(-\d+xl)?)$`)
)

// reservedTags are set by the platform itself.
var reservedTags = []string{platform.EMRManagedPolicyTag, platform.TagProject, platform.TagStack, "Name"}

func (v *validator) tags(tags map[string]string) {
	// S3 User Guide, "Object tagging": an object carries 10, and the platform
	// adds TagProject and TagStack.
	const most = 8
	v.check(len(tags) <= most, "tags", len(tags), "remove some")
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		path := "tags." + k
		wellFormed := len(k) >= 1 && len(k) <= 128 && len(tags[k]) <= 256 && tagText.MatchString(k) && tagText.MatchString(tags[k])
		v.checkRule(wellFormed && !strings.HasPrefix(strings.ToLower(k), "aws:"), path, tags[k], ruleOf("tags"), "rename or shorten it")
		v.checkRule(!slices.Contains(reservedTags, k), path, tags[k], "is set by the platform itself", "remove it")
	}
}

func (v *validator) operators(cidrs []string) {
	v.each("operatorCidrs", cidrs, func(s string) bool {
		p, err := netip.ParsePrefix(s)
		if err != nil || p != p.Masked() {
			return false
		}
		return p.Addr().Is4() && p.Bits() >= 8 || p.Addr().Is6() && p.Bits() >= 32
	}, "name the networks of your office or VPN, e.g. 203.0.113.0/24")
}

func (v *validator) network(c Config) {
	n := c.Network
	v.check(privateNetwork(n.CIDR), "network.cidr", n.CIDR, "")
	v.checkRule(len(n.AvailabilityZones) == 0 || len(n.AvailabilityZones) == 2, "network.availabilityZones", n.AvailabilityZones, ruleOf("network.availabilityZones"), "")
	v.each("network.availabilityZones", n.AvailabilityZones, func(z string) bool {
		letter, ours := strings.CutPrefix(z, c.Region)
		return ours && len(letter) == 1 && letter >= "a" && letter <= "z"
	}, "zones of "+c.Region+" are "+c.Region+"a, "+c.Region+"b, …")
	v.check(n.VPCID == "" || vpcID.MatchString(n.VPCID), "network.vpcId", n.VPCID, "")
	v.each("network.subnetIds", n.SubnetIDs, subnetID.MatchString, "")
	v.each("network.interfaceEndpoints", n.InterfaceEndpoints, func(s string) bool {
		return serviceName.MatchString(s) && s != "s3" && !strings.HasPrefix(s, "com.amazonaws")
	}, "write ssm for com.amazonaws.<region>.ssm")
	if n.VPCID != "" {
		v.checkRule(len(n.SubnetIDs) > 0, "network.subnetIds", n.SubnetIDs, "must name the private subnets of network.vpcId", "")
		v.checkRule(len(n.AvailabilityZones) == 0, "network.availabilityZones", n.AvailabilityZones, "must be empty with network.vpcId: the subnets decide", "remove it")
	} else {
		v.checkRule(len(n.SubnetIDs) == 0, "network.subnetIds", n.SubnetIDs, "must be empty without network.vpcId: the stack makes its own subnets", "set network.vpcId too")
	}
}

func (v *validator) controlNode(c Config) {
	n := c.ControlNode
	typed := instanceType.MatchString(n.InstanceType)
	v.check(typed, "controlNode.instanceType", n.InstanceType, "")
	known := n.Arch == platform.ArchAMD64 || n.Arch == platform.ArchARM64
	v.check(known && (!typed || n.Arch == Arch(n.InstanceType)), "controlNode.arch", n.Arch, "set controlNode.arch to "+Arch(n.InstanceType)+" for "+n.InstanceType)
	v.check(platform.ValidDataVolume(n.DataVolumeGiB), "controlNode.dataVolumeGiB", n.DataVolumeGiB, "")
	if n.PrivateIP == "" {
		return
	}
	ip, err := netip.ParseAddr(n.PrivateIP)
	inside := err == nil && ip.Is4()
	if p, perr := netip.ParsePrefix(c.Network.CIDR); inside && perr == nil && c.Network.VPCID == "" {
		inside = p.Contains(ip)
	}
	v.check(inside, "controlNode.privateIp", n.PrivateIP, "choose a free address of the first private subnet, or leave it empty")
}

// privateNetwork tells whether s is an RFC 1918 network that holds the
// stack's subnets and no stray host bits.
func privateNetwork(s string) bool {
	p, err := netip.ParsePrefix(s)
	return err == nil && p.Addr().Is4() && p.Addr().IsPrivate() && p == p.Masked() && within(p.Bits(), 16, 24)
}

// Arch reads the architecture (platform.ArchAMD64 or platform.ArchARM64) from
// the type's name: after the generation a leading g stands for Graviton (EC2
// User Guide, "Instance type naming conventions"); a1 is the one older Graviton
// family.
func Arch(instanceType string) string {
	family, _, _ := strings.Cut(instanceType, ".")
	if family == "a1" || graviton.MatchString(family) {
		return platform.ArchARM64
	}
	return platform.ArchAMD64
}

var graviton = regexp.MustCompile(`^[a-z]+\d+g`)

func origin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" &&
		u.Path == "" && u.RawQuery == "" && u.Fragment == "" && u.User == nil
}

func within(n, low, high int) bool { return n >= low && n <= high }
