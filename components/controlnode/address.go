package controlnode

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	boot "github.com/emr-observatory/emr-observatory/assets/controlnode"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// addresses are where the node is reached. All are known before the instance
// exists, since its certificates contain them.
type addresses struct {
	eni       *ec2.NetworkInterface
	public    pulumi.StringOutput // "" = none
	host      pulumi.StringOutput // operators' and the program's
	apiServer pulumi.StringOutput // URL
	ready     []pulumi.Resource   // what must exist before the instance boots
}

func (a addresses) private() pulumi.StringOutput { return a.eni.PrivateIp }

// createAddresses creates the interface and, if Access is public, an Elastic IP on
// it.
func (b *builder) createAddresses() (addresses, error) {
	eni, err := b.createNetworkInterface()
	if err != nil {
		return addresses{}, err
	}
	at := addresses{eni: eni, public: pulumi.String("").ToStringOutput(), host: eni.PrivateIp}
	switch b.args.Access {
	case schema.AccessPublic:
		if at, err = b.createPublicAddress(at); err != nil {
			return addresses{}, err
		}
	case schema.AccessTunnel:
		at.host, at.apiServer = pulumi.String(platform.Loopback).ToStringOutput(), pulumi.String(b.args.APIURL).ToStringOutput()
		return at, nil
	}
	at.apiServer = output.Map(at.host, func(host string) (string, error) { return boot.APIServer(host), nil })
	return at, nil
}

func (b *builder) createNetworkInterface() (*ec2.NetworkInterface, error) {
	args := &ec2.NetworkInterfaceArgs{
		Description:    pulumi.String("Control node of the EMR observatory"),
		SubnetId:       b.args.SubnetID,
		SecurityGroups: pulumi.StringArray{b.args.SecurityGroupID},
		Tags:           b.Tags("interface"),
	}
	if b.args.PrivateIP != "" {
		args.PrivateIps = pulumi.StringArray{pulumi.String(b.args.PrivateIP)}
	}
	eni, err := ec2.NewNetworkInterface(b.Ctx, b.Name("interface"), args, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create network interface %s: %w", b.Name("interface"), err)
	}
	return eni, nil
}

// createPublicAddress allocates an Elastic IP and associates it with the interface,
// not with the instance: a new instance keeps the address, and has it when it
// boots, since without it nothing of the public subnet reaches the internet. An
// address belongs to one interface at a time, so an association is deleted before
// it is replaced.
func (b *builder) createPublicAddress(at addresses) (addresses, error) {
	const role = "address"
	ip, err := ec2.NewEip(b.Ctx, b.Name(role), &ec2.EipArgs{Domain: pulumi.String("vpc"), Tags: b.Tags(role)}, b.Options()...)
	if err != nil {
		return at, fmt.Errorf("allocate Elastic IP %s: %w", b.Name(role), err)
	}
	association, err := ec2.NewEipAssociation(b.Ctx, b.Name(role), &ec2.EipAssociationArgs{
		AllocationId: ip.ID(), NetworkInterfaceId: at.eni.ID(),
	}, b.Options(pulumi.DeleteBeforeReplace(true))...)
	if err != nil {
		return at, fmt.Errorf("associate Elastic IP %s: %w", b.Name(role), err)
	}
	at.public, at.host, at.ready = ip.PublicIp, ip.PublicIp, []pulumi.Resource{association}
	return at, nil
}
