package record

import (
	"fmt"
	"net/netip"
)

func machineFillers() map[string]filler {
	return map[string]filler{
		"aws:ec2/networkInterface:NetworkInterface":                     networkInterface,
		"aws:ec2/networkInterfaceAttachment:NetworkInterfaceAttachment": attachment,
		"aws:ec2/instance:Instance":                                     instance,
		"aws:ec2/volumeAttachment:VolumeAttachment":                     func(d *draft) error { d.identify("vai-" + random("0123456789", 10)); return nil },
		"aws:ec2/keyPair:KeyPair":                                       keyPair,
		"aws:ec2/launchTemplate:LaunchTemplate": simple("lt-", "launch-template", func(d *draft) {
			d.otherwise("latestVersion", 1)
			d.otherwise("defaultVersion", 1)
		}),
		"aws:ec2/placementGroup:PlacementGroup": func(d *draft) error {
			d.identify(d.text("name"))
			d.otherwise("placementGroupId", ec2ID("pg-"))
			d.otherwise("arn", d.arn("ec2", "placement-group/"+d.id))
			return nil
		},
		"aws:ebs/volume:Volume": func(d *draft) error {
			d.otherwise("type", "gp2")
			d.otherwise("encrypted", false)
			d.otherwise("kmsKeyId", "")
			d.otherwise("snapshotId", "")
			d.otherwise("createTime", now())
			if d.text("type") == "gp3" {
				d.otherwise("iops", 3000)
				d.otherwise("throughput", 125)
			}
			return simple("vol-", "volume", nil)(d)
		},
		"aws:ebs/snapshot:Snapshot": simple("snap-", "snapshot", func(d *draft) {
			for _, none := range []string{"ownerAlias", "dataEncryptionKeyId", "kmsKeyId"} {
				d.otherwise(none, "")
			}
		}),
		"aws:ebs/encryptionByDefault:EncryptionByDefault": func(d *draft) error { d.identify("terraform-" + randomHex(26)); return nil },
		"aws:ebs/defaultKmsKey:DefaultKmsKey":             func(d *draft) error { d.identify(d.text("keyArn")); return nil },
	}
}

// networkInterface takes the addresses that the program chose or one that is
// free.
func networkInterface(d *draft) error {
	d.otherwise("interfaceType", "interface")
	d.otherwise("sourceDestCheck", true)
	d.otherwise("macAddress", "0a:"+hexPairs(5))
	d.otherwise("outpostArn", "")
	if err := simple("eni-", "network-interface", nil)(d); err != nil {
		return err
	}
	ip, err := d.address()
	if err != nil {
		return fmt.Errorf("create network interface: %w", err)
	}
	d.otherwise("privateIp", ip.String())
	d.otherwise("privateIps", []any{ip.String()})
	d.otherwise("privateIpLists", []any{ip.String()})
	d.otherwise("privateIpsCount", 0)
	d.always("privateDnsName", PrivateDNS(d.account.Region(), ip))
	return nil
}

// address is the primary private address: the one from before, the program's,
// or a free one of the subnet.
func (d *draft) address() (netip.Addr, error) {
	chosen := d.text("privateIp")
	if list, ok := d.in["privateIps"].([]any); ok && len(list) > 0 && chosen == "" {
		chosen, _ = list[0].(string)
	}
	if chosen == "" {
		return d.account.Address(d.text("subnetId"), d.r.URN)
	}
	if d.r.Outputs == nil { // an existing one has its address already
		if err := d.account.Fixed(d.text("subnetId"), d.r.URN, chosen); err != nil {
			return netip.Addr{}, err
		}
	}
	return netip.ParseAddr(chosen)
}

func hexPairs(n int) string {
	s := randomHex(2)
	for range n - 1 {
		s += ":" + randomHex(2)
	}
	return s
}

func attachment(d *draft) error {
	d.identify("eni-attach-" + randomHex(17))
	d.otherwise("attachmentId", d.id)
	d.otherwise("status", "attached")
	return nil
}

func instance(d *draft) error {
	if err := simple("i-", "instance", nil)(d); err != nil {
		return err
	}
	ip, err := d.primaryAddress()
	if err != nil {
		return fmt.Errorf("run instance: %w", err)
	}
	d.otherwise("privateIp", ip.String())
	d.always("privateDns", PrivateDNS(d.account.Region(), ip))
	s, _ := d.account.subnet(d.text("subnetId"))
	d.otherwise("availabilityZone", or(s.zone, d.account.Region()+"a"))
	d.otherwise("instanceState", "running")
	d.otherwise("tenancy", "default")
	d.otherwise("primaryNetworkInterfaceId", ec2ID("eni-"))
	d.otherwise("ebsOptimized", false)
	d.otherwise("monitoring", false)
	for _, none := range []string{"publicIp", "publicDns", "passwordData", "outpostArn", "keyName", "hostId", "instanceLifecycle", "spotInstanceRequestId", "placementGroup"} {
		d.otherwise(none, "")
	}
	d.rootDevice()
	return nil
}

// primaryAddress is the address of the interface that the instance is put on,
// else one of its own.
func (d *draft) primaryAddress() (netip.Addr, error) {
	list, _ := d.in["networkInterfaces"].([]any)
	for _, e := range list {
		n, _ := e.(map[string]any)
		id, _ := n["networkInterfaceId"].(string)
		index, _ := n["deviceIndex"].(float64)
		if id == "" || index != 0 {
			continue
		}
		d.otherwise("primaryNetworkInterfaceId", id)
		if ip, ok := d.account.interfaceAddress(id); ok {
			return ip, nil
		}
		if known := d.text("privateIp"); known != "" {
			return netip.ParseAddr(known)
		}
		return netip.Addr{}, fmt.Errorf("the network interface %q does not exist", id)
	}
	return d.address()
}

func (d *draft) rootDevice() {
	device := map[string]any{"volumeId": ec2ID("vol-"), "deviceName": "/dev/xvda", "volumeType": "gp3", "volumeSize": 8.0}
	if own, ok := d.in["rootBlockDevice"].(map[string]any); ok {
		for k, v := range own {
			device[k] = v
		}
	}
	if d.r.Outputs == nil {
		d.always("rootBlockDevice", device)
	}
}

func keyPair(d *draft) error {
	d.identify(d.text("keyName"))
	d.otherwise("keyPairId", ec2ID("key-"))
	d.otherwise("keyType", "ed25519")
	d.otherwise("keyNamePrefix", "")
	d.otherwise("fingerprint", randomHex(43))
	d.otherwise("arn", d.arn("ec2", "key-pair/"+d.id))
	return nil
}

func or(s, fallback string) string {
	if s != "" {
		return s
	}
	return fallback
}
