package record

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
)

// instanceFillers covers EC2 instances, what is attached to them, and EBS.
func instanceFillers() map[string]filler {
	return map[string]filler{
		"aws:ec2/networkInterface:NetworkInterface": networkInterface,
		"aws:ec2/instance:Instance":                 instance,
		"aws:ec2/volumeAttachment:VolumeAttachment": volumeAttachment,
		"aws:ebs/volume:Volume": func(d *draft) error {
			d.setDefaults(result{"type": "gp2", "encrypted": false, "kmsKeyId": "", "snapshotId": "", "createTime": now()})
			if d.text("type") == "gp3" {
				d.setDefaults(result{"iops": 3000, "throughput": 125})
			}
			return ec2Resource("vol-", "volume", nil)(d)
		},
	}
}

// networkInterface fills in the address that the program chose, or a free one.
func networkInterface(d *draft) error {
	d.setDefaults(result{
		"interfaceType": "interface", "sourceDestCheck": true, "macAddress": "0a:" + randomHexPairs(5), "outpostArn": "",
	})
	if err := ec2Resource("eni-", "network-interface", nil)(d); err != nil {
		return err
	}
	ip, err := d.address()
	if err != nil {
		return fmt.Errorf("create network interface: %w", err)
	}
	d.setDefaults(result{
		"privateIp": ip.String(), "privateIps": []any{ip.String()}, "privateIpLists": []any{ip.String()}, "privateIpsCount": 0,
	})
	d.set("privateDnsName", PrivateDNS(d.account.Region(), ip))
	return nil
}

// address returns the primary private address: the one it has, the one that the
// program chose, or a free one of the subnet.
func (d *draft) address() (netip.Addr, error) {
	chosen := d.text("privateIp")
	if list, ok := d.in["privateIps"].([]any); ok && len(list) > 0 && chosen == "" {
		chosen, _ = list[0].(string)
	}
	if chosen == "" {
		return d.account.AllocateAddress(d.text("subnetId"), d.r.URN)
	}
	if d.r.Outputs == nil { // an existing resource has its address already
		if err := d.account.ReserveAddress(d.text("subnetId"), d.r.URN, chosen); err != nil {
			return netip.Addr{}, err
		}
	}
	return netip.ParseAddr(chosen)
}

// randomHexPairs returns n random bytes as pairs of hexadecimal digits joined by colons, as
// in a MAC address. n must be at least 1.
func randomHexPairs(n int) string {
	s := randomHex(2)
	for range n - 1 {
		s += ":" + randomHex(2)
	}
	return s
}

// volumeAttachment fails if volume and instance are in different zones, as EC2 does (EC2
// API, AttachVolume).
func volumeAttachment(d *draft) error {
	volume, machine := d.text("volumeId"), d.text("instanceId")
	at, needs := of(d.account, d.account.zones, volume), of(d.account, d.account.zones, machine)
	if at != "" && needs != "" && at != needs && d.r.Outputs == nil {
		return fmt.Errorf("attach volume: InvalidVolume.ZoneMismatch: %s is in %s, and instance %s in %s", volume, at, machine, needs)
	}
	d.setID("vai-" + randomString("0123456789", 10))
	return nil
}

func instance(d *draft) error {
	if err := ec2Resource("i-", "instance", nil)(d); err != nil {
		return err
	}
	at, err := d.primaryPlacement()
	if err != nil {
		return fmt.Errorf("run instance: %w", err)
	}
	d.setDefault("privateIp", at.address.String())
	d.set("privateDns", PrivateDNS(d.account.Region(), at.address))
	s, _ := d.account.subnet(at.subnet)
	d.setDefault("availabilityZone", cmp.Or(s.zone, d.account.Region()+"a"))
	if err := d.account.checkOffered(d.text("availabilityZone"), d.text("instanceType")); err != nil && d.r.Outputs == nil {
		return fmt.Errorf("run instance: %w", err)
	}
	d.setDefaults(result{
		"instanceState": "running", "tenancy": "default", "primaryNetworkInterfaceId": newEC2ID("eni-"), "ebsOptimized": false,
		"monitoring": false,
	})
	d.setEmpty("publicIp", "publicDns", "passwordData", "outpostArn", "keyName", "hostId", "instanceLifecycle",
		"spotInstanceRequestId", "placementGroup")
	d.setRootDevice()
	return nil
}

// primaryPlacement returns where the instance's primary network interface is: the
// one that the program attaches, or an own one.
func (d *draft) primaryPlacement() (placement, error) {
	list, _ := d.in["networkInterfaces"].([]any)
	for _, e := range list {
		n, _ := e.(map[string]any)
		id, _ := n["networkInterfaceId"].(string)
		index, _ := n["deviceIndex"].(float64)
		if id == "" || index != 0 {
			continue
		}
		d.setDefault("primaryNetworkInterfaceId", id)
		if p, ok := d.account.interfacePlacement(id); ok {
			return p, nil
		}
		if known := d.text("privateIp"); known != "" {
			ip, err := netip.ParseAddr(known)
			return placement{d.text("subnetId"), ip}, err
		}
		return placement{}, fmt.Errorf("the network interface %q does not exist", id)
	}
	ip, err := d.address()
	return placement{d.text("subnetId"), ip}, err
}

// setRootDevice completes the root volume of a new instance.
func (d *draft) setRootDevice() {
	device := map[string]any{"volumeId": newEC2ID("vol-"), "deviceName": "/dev/xvda", "volumeType": "gp3", "volumeSize": 8.0}
	own, _ := d.in["rootBlockDevice"].(map[string]any)
	maps.Copy(device, own)
	if d.r.Outputs == nil {
		d.set("rootBlockDevice", device)
	}
}
