package rules

import (
	"net/netip"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	tagDoc  = "EC2 User Guide, Tag restrictions"
	vpcDoc  = "VPC User Guide, VPC and subnet CIDR blocks"
	ebsDoc  = "EC2 API, CreateVolume"
	userDoc = "EC2 API, RunInstances, UserData"
)

// volumeTypes lists the types of EC2's CreateVolume.
func volumeTypes() []string {
	return []string{"gp3", "gp2", "io1", "io2", "standard", "st1", "sc1"}
}

// tagRules apply to every AWS resource with tags.
func tagRules() []Rule {
	return []Rule{
		{Type: "aws:*", Path: "tags", Rule: "at most 50 tags", Source: tagDoc, Holds: maxItems(50), Pass: object{"a": "b"},
			Fail: manyTags(51)},
		{Type: "aws:*", Path: "tags", Rule: "tag keys are 1 to 128 characters and do not begin with aws:", Source: tagDoc,
			Holds: onObject(validTagKeys), Pass: object{"team": "x"}, Fail: object{"aws:team": "x"}},
		{Type: "aws:*", Path: "tags.*", Rule: "a tag value has at most 256 characters", Source: tagDoc, Holds: maxLength(256), Pass: "x",
			Fail: strings.Repeat("x", 257)},
	}
}

// networkRules cover VPCs and what is in them except security groups.
func networkRules() []Rule {
	return []Rule{
		{Type: "aws:ec2/vpc:Vpc", Path: "cidrBlock", Rule: "must be an IPv4 network of /16 to /28", Remedy: "write e.g. 10.0.0.0/16",
			Source: vpcDoc, Holds: onString(isVPCNetwork), Pass: "10.0.0.0/16", Fail: "10.0.0.0/8"},
		{Type: "aws:ec2/subnet:Subnet", Path: "cidrBlock", Rule: "must be an IPv4 network of /16 to /28 without host bits",
			Remedy: "write e.g. 10.0.0.0/20", Source: vpcDoc, Holds: onString(isVPCNetwork), Pass: "10.0.0.0/20", Fail: "10.0.0.1/20"},
		{Type: "aws:ec2/subnet:Subnet", Path: "availabilityZone", Rule: "must be a zone name such as us-east-1a",
			Source: "EC2 API, CreateSubnet", Holds: matches(`^[a-z]{2}(-[a-z]+)+-\d[a-z]$`), Pass: "us-east-1a", Fail: "us-east-1"},
		enum("aws:ec2/vpcEndpoint:VpcEndpoint", "vpcEndpointType", "EC2 API, CreateVpcEndpoint", "Gateway", "gateway", "Gateway",
			"Interface", "GatewayLoadBalancer", "Resource", "ServiceNetwork"),
		{Type: "aws:ec2/vpcEndpoint:VpcEndpoint", Path: "serviceName",
			Rule: "must be com.amazonaws.<region>.<service> or a private service name", Source: "PrivateLink Guide",
			Holds: matches(`^(com\.amazonaws|aws\.api|com\.amazonaws\.vpce)\.[a-z0-9.-]+$`), Pass: "com.amazonaws.us-east-1.s3", Fail: "s3"},
		{Type: "aws:ec2/eipAssociation:EipAssociation",
			Rule: "names an allocationId and one of instanceId and networkInterfaceId", Source: "EC2 API, AssociateAddress",
			Holds: onObject(oneAddressHolder), Pass: object{"allocationId": "eipalloc-1", "networkInterfaceId": "eni-1"},
			Fail: object{"allocationId": "eipalloc-1"}},
		enum("aws:ec2/flowLog:FlowLog", "trafficType", "EC2 API, CreateFlowLogs", "ALL", "all", "ACCEPT", "REJECT", "ALL"),
	}
}

// instanceRules cover EC2 instances and what is attached to them.
func instanceRules() []Rule {
	return []Rule{
		{Type: "aws:ec2/instance:Instance", Path: "instanceType", Rule: "must look like family.size", Remedy: "write e.g. m5.xlarge",
			Source: "EC2 User Guide, Instance types", Holds: onString(instanceTypePattern.MatchString), Pass: "m7g.2xlarge", Fail: "xlarge"},
		{Type: "aws:ec2/instance:Instance", Path: "ami", Rule: "must be an AMI id", Source: "EC2 API, RunInstances",
			Holds: matches(`^(ami-[0-9a-f]{8,17}|resolve:ssm:.+)$`), Pass: "ami-0123456789abcdef0", Fail: "al2023"},
		{Type: "aws:ec2/instance:Instance", Path: "userData", Rule: "must be at most 16384 bytes", Remedy: "fetch large files from S3",
			Source: userDoc, Holds: maxBytes(16384), Pass: "#!/bin/sh", Fail: strings.Repeat("x", 16385)},
		enum("aws:ec2/instance:Instance", "metadataOptions.httpTokens", "EC2 API, InstanceMetadataOptionsRequest", "required", "yes",
			"optional", "required"),
		enum("aws:ec2/instance:Instance", "metadataOptions.httpEndpoint", "EC2 API, InstanceMetadataOptionsRequest", "enabled", "on",
			"enabled", "disabled"),
		limits("aws:ec2/instance:Instance", "metadataOptions.httpPutResponseHopLimit", "EC2 API, InstanceMetadataOptionsRequest", "", 1, 64,
			2, 0),
		{Type: "aws:ec2/instance:Instance", Rule: "networkInterfaces excludes subnetId, vpcSecurityGroupIds and privateIp",
			Remedy: "set them on the network interface", Source: "EC2 API, RunInstances, NetworkInterface",
			Holds: onObject(interfacesExcludeAddresses), Pass: object{"networkInterfaces": []any{}},
			Fail: object{"networkInterfaces": []any{}, "subnetId": "subnet-1"}},
		{Type: "aws:ec2/networkInterface:NetworkInterface", Path: "privateIps[*]", Rule: "must be an IPv4 address",
			Source: "EC2 API, CreateNetworkInterface", Holds: onString(isIPv4), Pass: "10.0.0.10", Fail: "10.0.0.0/24"},
		{Type: "aws:ec2/networkInterface:NetworkInterface", Path: "privateIp", Rule: "must be an IPv4 address",
			Source: "EC2 API, CreateNetworkInterface", Holds: onString(isIPv4), Pass: "10.0.0.10", Fail: "ten"},
		{Type: "aws:ec2/volumeAttachment:VolumeAttachment", Path: "deviceName", Rule: "must be a device name such as /dev/sdf or /dev/xvdf",
			Source: "EC2 User Guide, Device names", Holds: matches(`^/dev/(sd|xvd)[a-z][a-z0-9]*$`), Pass: "/dev/sdf", Fail: "/dev/nvme1n1"},
		enum("aws:ec2/instance:Instance", "rootBlockDevice.volumeType", ebsDoc, "gp3", "gp4", volumeTypes()...),
	}
}

// volumeRules cover EBS volumes.
func volumeRules() []Rule {
	return []Rule{
		enum("aws:ebs/volume:Volume", "type", ebsDoc, "gp3", "ssd", volumeTypes()...),
		{Type: "aws:ebs/volume:Volume",
			Rule:   "size must fit the type (gp2, gp3 1 to 65536, io1, io2 4 to 65536, st1, sc1 125 to 16384, standard 1 to 1024 GiB)",
			Source: ebsDoc, Holds: onObject(func(o object) bool { return volumeSize(o, "type", "gp2") }),
			Pass: object{"type": "gp3", "size": 50.0}, Fail: object{"type": "st1", "size": 50.0}},
		{Type: "aws:ebs/volume:Volume",
			Rule: "gp3 takes 3000 to 80000 IOPS and 125 to 2000 MiB/s; throughput belongs to gp3 alone", Source: ebsDoc,
			Holds: onObject(func(o object) bool { return volumePerformance(o, "type") }),
			Pass:  object{"type": "gp3", "iops": 3000.0, "throughput": 125.0}, Fail: object{"type": "gp2", "throughput": 125.0}},
		{Type: "aws:ebs/volume:Volume", Rule: "kmsKeyId needs encrypted: true", Source: ebsDoc,
			Holds: onObject(func(o object) bool { return !isSet(o, "kmsKeyId") || isSet(o, "encrypted") && o["encrypted"] != false }),
			Pass:  object{"kmsKeyId": "arn", "encrypted": true}, Fail: object{"kmsKeyId": "arn"}},
	}
}

var instanceTypePattern = regexp.MustCompile(`^[a-z][a-z0-9-]*[0-9][a-z0-9-]*\.` +
	`(nano|micro|small|medium|large|[0-9]*xlarge|metal(-[0-9a-z]+)?)$`)

func manyTags(n int) object {
	o := object{}
	for i := range n {
		o[strings.Repeat("k", i+1)] = "v"
	}
	return o
}

func validTagKeys(o object) bool {
	for k := range o {
		if k == "" || utf8.RuneCountInString(k) > 128 || strings.HasPrefix(strings.ToLower(k), "aws:") {
			return false
		}
	}
	return true
}

func isVPCNetwork(s string) bool {
	p, err := netip.ParsePrefix(s)
	return err == nil && p.Addr().Is4() && isNetwork(s) && p.Bits() >= 16 && p.Bits() <= 28
}

func isIPv4(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is4() }

func interfacesExcludeAddresses(o object) bool {
	return !isSet(o, "networkInterfaces") || !isSet(o, "subnetId") && !isSet(o, "vpcSecurityGroupIds") && !isSet(o, "privateIp")
}

func oneAddressHolder(o object) bool {
	return isSet(o, "allocationId") && isSet(o, "instanceId") != isSet(o, "networkInterfaceId")
}

// volumeSize accepts a size in GiB that fits the volume type, which is defaultType
// if it is not set.
func volumeSize(o object, typeKey, defaultType string) bool {
	size, ok := numberField(o, "size")
	if !ok {
		return true
	}
	typ, ok := stringField(o, typeKey)
	if !ok {
		if isSet(o, typeKey) {
			return true
		}
		typ = defaultType
	}
	limits := map[string][2]float64{
		"gp2": {1, 65536}, "gp3": {1, 65536}, "io1": {4, 65536}, "io2": {4, 65536}, "st1": {125, 16384}, "sc1": {125, 16384},
		"standard": {1, 1024},
	}
	l, ok := limits[typ]
	return !ok || size >= l[0] && size <= l[1]
}

// volumePerformance accepts IOPS and throughput that fit the volume type.
func volumePerformance(o object, typeKey string) bool {
	typ, ok := stringField(o, typeKey)
	if !ok && isSet(o, typeKey) {
		return true
	}
	iops, hasIOPS := numberField(o, "iops")
	rate, hasRate := numberField(o, "throughput")
	switch typ {
	case "gp3":
		return (!hasIOPS || iops >= 3000 && iops <= 80000) && (!hasRate || rate >= 125 && rate <= 2000)
	case "io1", "io2":
		return (!hasIOPS || iops >= 100 && iops <= 256000) && !hasRate
	default:
		return !hasRate
	}
}
