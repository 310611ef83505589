package network

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/components/internal/fault"
	"github.com/emr-observatory/emr-observatory/platform"
)

var (
	vpcID       = regexp.MustCompile(`^vpc-([0-9a-f]{8}|[0-9a-f]{17})$`)
	subnetID    = regexp.MustCompile(`^subnet-([0-9a-f]{8}|[0-9a-f]{17})$`)
	serviceName = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)*$`)
)

// Validate reports every fault of the arguments at once. It asks nothing of
// AWS.
func (a *Args) Validate() error {
	if a == nil {
		return errors.New("network: arguments are nil; pass *network.Args")
	}
	var l fault.List
	l.Unless(fault.Region.MatchString(a.Region), "network.region", a.Region, "must be an AWS region", "name one, e.g. us-east-1")
	l.Tags("network.tags", a.Tags, platform.EMRManagedPolicyTag, "Name")
	a.validateOperators(&l)
	for i, s := range a.InterfaceEndpoints {
		at := fmt.Sprintf("network.interfaceEndpoints[%d]", i)
		l.Unless(serviceName.MatchString(s) && !strings.HasPrefix(s, "com."), at, s, "must be a service in short form", "write ssm for com.amazonaws.<region>.ssm")
		l.Unless(s != "s3", at, s, "must not be s3, which has a gateway endpoint already", "remove it")
		l.Unless(!slices.Contains(a.InterfaceEndpoints[:i], s), at, s, "must be named once", "remove the repetition")
	}
	if a.ExistingVPCID != "" {
		a.validateExisting(&l)
	} else {
		a.validateOwn(&l)
	}
	return l.Join()
}

func (a *Args) validateOperators(l *fault.List) {
	const remedy = "name the networks of your office or VPN, e.g. 203.0.113.0/24"
	for i, s := range a.OperatorCIDRs {
		at := fmt.Sprintf("network.operatorCidrs[%d]", i)
		p, err := netip.ParsePrefix(s)
		l.Unless(err == nil && p == p.Masked(), at, s, "must be a network in CIDR form without host bits", remedy)
		// Two /1 networks are the world as well; no organisation holds more than a /8.
		l.Unless(err != nil || p.Addr().Is4() && p.Bits() >= 8 || p.Addr().Is6() && p.Bits() >= 32, at, s,
			"must not open the platform to the world: at least /8 (IPv4) or /32 (IPv6)", remedy)
		l.Unless(!slices.Contains(a.OperatorCIDRs[:i], s), at, s, "must be named once", "remove the repetition")
	}
}

func (a *Args) validateExisting(l *fault.List) {
	l.Unless(vpcID.MatchString(a.ExistingVPCID), "network.existingVpcId", a.ExistingVPCID, "must be vpc- and 8 or 17 hexadecimal digits", "copy it from the VPC console")
	l.Unless(len(a.ExistingSubnetIDs) > 0, "network.existingSubnetIds", a.ExistingSubnetIDs, "must name private subnets of the existing VPC", "name at least one")
	for i, s := range a.ExistingSubnetIDs {
		at := fmt.Sprintf("network.existingSubnetIds[%d]", i)
		l.Unless(subnetID.MatchString(s), at, s, "must be subnet- and 8 or 17 hexadecimal digits", "copy it from the VPC console")
		l.Unless(!slices.Contains(a.ExistingSubnetIDs[:i], s), at, s, "must be named once", "remove the repetition")
	}
	const owner = "must be empty with an existing VPC, whose owner decides"
	l.Unless(len(a.AvailabilityZones) == 0, "network.availabilityZones", a.AvailabilityZones, owner, "remove them; the subnets have their zones")
	l.Unless(len(a.InterfaceEndpoints) == 0, "network.interfaceEndpoints", a.InterfaceEndpoints, owner, "remove them, or let the VPC's owner make them")
	l.Unless(a.FlowLogBucketARN == nil, "network.flowLogBucketArn", "set", owner, "leave it nil")
}

// withoutNAT are the services that the machines call before anything else can
// work: keys of encrypted local disks, and parameters of the control node.
var withoutNAT = []string{"kms", "ssm"}

func (a *Args) validateOwn(l *fault.List) {
	l.Unless(len(a.ExistingSubnetIDs) == 0, "network.existingSubnetIds", a.ExistingSubnetIDs, "must be empty without an existing VPC", "set existingVpcId too")
	p, err := netip.ParsePrefix(a.CIDR)
	sound := err == nil && p.Addr().Is4() && p.Addr().IsPrivate() && p == p.Masked() && p.Bits() >= 16 && p.Bits() <= 24
	l.Unless(sound, "network.cidr", a.CIDR, "must be a private IPv4 network (RFC 1918) without host bits, /16 to /24", "write e.g. 10.0.0.0/16")
	for _, inner := range []string{platform.KubernetesPodCIDR, platform.KubernetesServiceCIDR} {
		l.Unless(!sound || !overlaps(p, inner), "network.cidr", a.CIDR,
			"must not overlap "+inner+", which Kubernetes uses inside the control node", "choose another network, e.g. 10.0.0.0/16")
	}
	l.Unless(len(a.AvailabilityZones) == 0 || len(a.AvailabilityZones) == 2, "network.availabilityZones", a.AvailabilityZones, "must be two zones, or none for the region's first two", "name two zones")
	for i, z := range a.AvailabilityZones {
		at := fmt.Sprintf("network.availabilityZones[%d]", i)
		letter, ours := strings.CutPrefix(z, a.Region)
		l.Unless(ours && len(letter) == 1 && letter >= "a" && letter <= "z", at, z, "must be a zone of "+a.Region, "write e.g. "+a.Region+"a")
		l.Unless(!slices.Contains(a.AvailabilityZones[:i], z), at, z, "must be named once", "name two different zones")
	}
	for _, s := range withoutNAT {
		l.Unless(a.NAT || slices.Contains(a.InterfaceEndpoints, s), "network.interfaceEndpoints", a.InterfaceEndpoints,
			"must hold "+s+" without NAT: nothing starts without it", "add it, or set nat")
	}
}

func overlaps(p netip.Prefix, other string) bool {
	o, err := netip.ParsePrefix(other)
	return err != nil || p.Overlaps(o)
}
