package controlnode

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ebs"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	boot "github.com/emr-observatory/emr-observatory/assets/controlnode"
	"github.com/emr-observatory/emr-observatory/platform"
)

// rootGiB holds the system, logs of pods and K3s itself; images and data are
// on the data volume.
const rootGiB = 30

// attachmentDevice is the name asked for; Nitro ignores it (platform.EBSDevice).
const attachmentDevice = "/dev/sdf"

// amiParameters name the newest Amazon Linux 2023 by architecture (AL2023 User
// Guide, "Launching AL2023 using the SSM parameter").
//
//nolint:gochecknoglobals // one table, read-only
var amiParameters = map[string]string{
	platform.ArchAMD64: "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64",
	platform.ArchARM64: "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-arm64",
}

type machine struct {
	instance   *ec2.Instance
	attachment *ec2.VolumeAttachment
}

func (b *builder) networkInterface() (*ec2.NetworkInterface, error) {
	args := &ec2.NetworkInterfaceArgs{
		Description:    pulumi.String("Control node of the EMR observatory"),
		SubnetId:       b.args.SubnetID,
		SecurityGroups: pulumi.StringArray{b.args.SecurityGroupID},
		Tags:           b.tags("interface"),
	}
	if b.args.PrivateIP != "" {
		args.PrivateIps = pulumi.StringArray{pulumi.String(b.args.PrivateIP)}
	}
	eni, err := ec2.NewNetworkInterface(b.ctx, b.name("interface"), args, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("create network interface %s: %w", b.name("interface"), err)
	}
	return eni, nil
}

// dataVolume takes its zone from the subnet, not from the instance: while the
// instance is being replaced its zone is unknown, and an unknown zone would be
// planned as a replacement of the volume.
func (b *builder) dataVolume() (*ebs.Volume, error) {
	zone := b.args.AvailabilityZone
	if zone == nil {
		zone = ec2.LookupSubnetOutput(b.ctx, ec2.LookupSubnetOutputArgs{
			Id: b.args.SubnetID.ToStringOutput().ToStringPtrOutput(),
		}, pulumi.Parent(b.parent)).AvailabilityZone()
	}
	volume, err := ebs.NewVolume(b.ctx, b.name("data"), &ebs.VolumeArgs{
		AvailabilityZone: zone,
		Type:             pulumi.String("gp3"),
		Size:             pulumi.Int(b.args.DataVolumeGiB),
		Encrypted:        pulumi.Bool(true),
		KmsKeyId:         b.args.KMSKeyARN,
		Tags:             b.tags("data"),
	}, b.child(pulumi.Protect(!b.args.Ephemeral), pulumi.RetainOnDelete(!b.args.Ephemeral))...)
	if err != nil {
		return nil, fmt.Errorf("create data volume %s: %w", b.name("data"), err)
	}
	return volume, nil
}

// image is the one asked for, or the newest of the architecture, kept from then
// on in a parameter: a new release is no reason to replace the node. Another
// architecture is another parameter, so the node then gets an image that it can
// start.
func (b *builder) image() (pulumi.StringInput, error) {
	if b.args.AMI != "" {
		return pulumi.String(b.args.AMI), nil
	}
	newest := ssm.LookupParameterOutput(b.ctx, ssm.LookupParameterOutputArgs{
		Name: pulumi.String(amiParameters[b.args.Arch]),
	}, pulumi.Parent(b.parent)).Value()
	role := "image-" + b.args.Arch
	kept, err := ssm.NewParameter(b.ctx, b.name(role), &ssm.ParameterArgs{
		Name:        pulumi.String(b.parameterPath(role)),
		Description: pulumi.String("Image that the control node was made from"),
		Type:        pulumi.String("SecureString"), // scanners ask for it of any parameter
		KeyId:       b.args.KMSKeyARN,
		Value:       newest,
		Tags:        b.tags(role),
	}, b.child(pulumi.IgnoreChanges([]string{"value"}))...)
	if err != nil {
		return nil, fmt.Errorf("create parameter %s: %w", b.parameterPath(role), err)
	}
	// The provider treats every parameter's value as secret; this one is public.
	return pulumi.Unsecret(kept.Value).(pulumi.StringOutput), nil //nolint:forcetypeassert // Unsecret keeps the type
}

func (b *builder) userData(eni *ec2.NetworkInterface, volume *ebs.Volume, prefix string) pulumi.StringOutput {
	return pulumi.All(eni.PrivateIp, volume.ID()).ApplyT(func(v []any) (string, error) {
		text, err := boot.UserData(boot.Input{
			Region:          b.args.Region,
			Arch:            b.args.Arch,
			PrivateIP:       v[0].(string),            //nolint:forcetypeassert // a StringOutput
			VolumeID:        string(v[1].(pulumi.ID)), //nolint:forcetypeassert // an IDOutput
			ParameterPrefix: prefix,
			Mirror:          b.args.Mirror,
		})
		return string(text), err
	}).(pulumi.StringOutput) //nolint:forcetypeassert // by the function's type
}

// instance starts the machine once it may read what it needs, and attaches the
// volume. Both are deleted before they are replaced: an interface and a volume
// belong to one instance at a time.
func (b *builder) instance(eni *ec2.NetworkInterface, volume *ebs.Volume, p pki, a access) (machine, error) {
	ami, err := b.image()
	if err != nil {
		return machine{}, err
	}
	needed := []pulumi.Resource{a.policy}
	for _, parameter := range p.parameters {
		needed = append(needed, parameter)
	}
	instance, err := ec2.NewInstance(b.ctx, b.name("instance"), &ec2.InstanceArgs{
		Ami:                ami,
		InstanceType:       pulumi.String(b.args.InstanceType),
		IamInstanceProfile: a.profile.Name,
		NetworkInterfaces: ec2.InstanceNetworkInterfaceArray{ec2.InstanceNetworkInterfaceArgs{
			DeviceIndex: pulumi.Int(0), NetworkInterfaceId: eni.ID(),
		}},
		MetadataOptions: ec2.InstanceMetadataOptionsArgs{
			HttpEndpoint:            pulumi.String("enabled"),
			HttpTokens:              pulumi.String("required"),
			HttpPutResponseHopLimit: pulumi.Int(2), // pods are one hop further; see the package comment
		},
		RootBlockDevice: ec2.InstanceRootBlockDeviceArgs{
			VolumeType: pulumi.String("gp3"), VolumeSize: pulumi.Int(rootGiB),
			Encrypted: pulumi.Bool(true), KmsKeyId: b.args.KMSKeyARN,
			DeleteOnTermination: pulumi.Bool(true), Tags: b.tags("root"),
		},
		EbsOptimized:            pulumi.Bool(true),
		Monitoring:              pulumi.Bool(true),
		UserData:                b.userData(eni, volume, p.prefix),
		UserDataReplaceOnChange: pulumi.Bool(true), // cloud-init runs it once in an instance's life
		Tags:                    b.tags("instance"),
	}, b.child(pulumi.DependsOn(needed), pulumi.DeleteBeforeReplace(true))...)
	if err != nil {
		return machine{}, fmt.Errorf("create instance %s: %w", b.name("instance"), err)
	}
	attachment, err := ec2.NewVolumeAttachment(b.ctx, b.name("attachment"), &ec2.VolumeAttachmentArgs{
		DeviceName:                  pulumi.String(attachmentDevice),
		InstanceId:                  instance.ID(),
		VolumeId:                    volume.ID(),
		StopInstanceBeforeDetaching: pulumi.Bool(true), // so that the file system is unmounted
	}, b.child(pulumi.DeleteBeforeReplace(true))...)
	if err != nil {
		return machine{}, fmt.Errorf("attach data volume %s: %w", b.name("attachment"), err)
	}
	return machine{instance, attachment}, nil
}
