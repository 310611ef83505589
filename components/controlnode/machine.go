package controlnode

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ebs"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	boot "github.com/emr-observatory/emr-observatory/assets/controlnode"
	"github.com/emr-observatory/emr-observatory/components/internal/child"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/platform"
)

// attachmentDevice is the requested device name, which Nitro instances ignore
// (platform.EBSDevice).
const attachmentDevice = "/dev/sdf"

// amiParameters name the newest Amazon Linux 2023 by architecture (AL2023 User
// Guide, "Launching AL2023 using the SSM parameter").
var amiParameters = map[string]string{
	platform.ArchAMD64: "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64",
	platform.ArchARM64: "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-arm64",
}

const roleInstance = "instance"

// InstanceTags are the tags by which the instance of the control node of this name
// is found, besides those of the stack.
func InstanceTags(name string) map[string]string {
	return map[string]string{child.TagName: child.NameOf(name, roleInstance)}
}

// machine is the instance with the data volume attached.
type machine struct {
	instance   *ec2.Instance
	attachment *ec2.VolumeAttachment
}

// createDataVolume takes the zone from the subnet, not from the instance: while
// the instance is being replaced its zone is unknown, and an unknown zone would
// be planned as a replacement of the volume.
func (b *builder) createDataVolume() (*ebs.Volume, error) {
	zone := b.args.AvailabilityZone
	if zone == nil {
		zone = ec2.LookupSubnetOutput(b.Ctx, ec2.LookupSubnetOutputArgs{
			Id: b.args.SubnetID.ToStringOutput().ToStringPtrOutput(),
		}, pulumi.Parent(b.Parent)).AvailabilityZone()
	}
	volume, err := ebs.NewVolume(b.Ctx, b.Name("data"), &ebs.VolumeArgs{
		AvailabilityZone: zone,
		Type:             pulumi.String(platform.ControlVolumeType),
		Size:             pulumi.Int(b.args.DataVolumeGiB),
		Encrypted:        pulumi.Bool(true),
		KmsKeyId:         b.args.KMSKeyARN,
		Tags:             b.Tags("data"),
	}, b.Options(pulumi.Protect(!b.args.Ephemeral), pulumi.RetainOnDelete(!b.args.Ephemeral))...)
	if err != nil {
		return nil, fmt.Errorf("create data volume %s: %w", b.Name("data"), err)
	}
	return volume, nil
}

// image returns the configured image, or the newest one of the architecture at
// creation. The latter is stored in a parameter, so that a newer release does not
// replace the node. Each architecture has its own parameter, so that a changed
// architecture gets an image that it can boot.
func (b *builder) image() (pulumi.StringInput, error) {
	if b.args.AMI != "" {
		return pulumi.String(b.args.AMI), nil
	}
	newest := ssm.LookupParameterOutput(b.Ctx, ssm.LookupParameterOutputArgs{
		Name: pulumi.String(amiParameters[b.args.Arch]),
	}, pulumi.Parent(b.Parent)).Value()
	role := "image-" + b.args.Arch
	stored, err := ssm.NewParameter(b.Ctx, b.Name(role), &ssm.ParameterArgs{
		Name:        pulumi.String(b.parameterPath(role)),
		Description: pulumi.String("Image that the control node was made from"),
		Type:        pulumi.String("SecureString"), // security scanners require it of every parameter
		KeyId:       b.args.KMSKeyARN,
		Value:       newest,
		Tags:        b.Tags(role),
	}, b.Options(pulumi.IgnoreChanges([]string{"value"}))...)
	if err != nil {
		return nil, fmt.Errorf("create parameter %s: %w", b.parameterPath(role), err)
	}
	// The provider treats every parameter's value as secret; this one is public.
	return output.Public(stored.Value), nil
}

func (b *builder) userData(at addresses, volume *ebs.Volume, prefix string) pulumi.StringOutput {
	in := []pulumi.StringInput{at.private(), volume.ID().ToStringOutput(), at.public}
	return output.Join(in, func(v []string) (string, error) {
		text, err := boot.UserData(boot.Input{
			Region: b.args.Region, Arch: b.args.Arch, PrivateIP: v[0], PublicIP: v[2], VolumeID: v[1], ParameterPrefix: prefix,
			RegistryMirror: b.args.RegistryMirror, K3sURL: b.args.K3sURL,
		})
		return string(text), err
	})
}

// createInstance creates the instance after the policy, the parameters and the
// public address that its boot script needs, and attaches the volume. Both resources are deleted
// before they are replaced: an interface and a volume belong to one instance at a
// time.
func (b *builder) createInstance(at addresses, volume *ebs.Volume, p pki, a access) (machine, error) {
	ami, err := b.image()
	if err != nil {
		return machine{}, err
	}
	dependencies := append([]pulumi.Resource{a.policy}, at.ready...)
	for _, parameter := range p.parameters {
		dependencies = append(dependencies, parameter)
	}
	instance, err := ec2.NewInstance(b.Ctx, b.Name(roleInstance), &ec2.InstanceArgs{
		Ami:                ami,
		InstanceType:       pulumi.String(b.args.InstanceType),
		IamInstanceProfile: a.profile.Name,
		NetworkInterfaces: ec2.InstanceNetworkInterfaceArray{ec2.InstanceNetworkInterfaceArgs{
			DeviceIndex: pulumi.Int(0), NetworkInterfaceId: at.eni.ID(),
		}},
		MetadataOptions: ec2.InstanceMetadataOptionsArgs{
			HttpEndpoint:            pulumi.String("enabled"),
			HttpTokens:              pulumi.String("required"),
			HttpPutResponseHopLimit: pulumi.Int(2), // pods are one hop further; see the package comment
		},
		RootBlockDevice: ec2.InstanceRootBlockDeviceArgs{
			VolumeType: pulumi.String(platform.ControlVolumeType), VolumeSize: pulumi.Int(platform.ControlRootGiB),
			Encrypted: pulumi.Bool(true), KmsKeyId: b.args.KMSKeyARN,
			DeleteOnTermination: pulumi.Bool(true), Tags: b.Tags("root"),
		},
		EbsOptimized:            pulumi.Bool(true),
		Monitoring:              pulumi.Bool(true),
		UserData:                b.userData(at, volume, p.prefix),
		UserDataReplaceOnChange: pulumi.Bool(true), // cloud-init runs it only once per instance
		Tags:                    b.Tags(roleInstance),
	}, b.Options(pulumi.DependsOn(dependencies), pulumi.DeleteBeforeReplace(true))...)
	if err != nil {
		return machine{}, fmt.Errorf("create instance %s: %w", b.Name(roleInstance), err)
	}
	attachment, err := ec2.NewVolumeAttachment(b.Ctx, b.Name("attachment"), &ec2.VolumeAttachmentArgs{
		DeviceName:                  pulumi.String(attachmentDevice),
		InstanceId:                  instance.ID(),
		VolumeId:                    volume.ID(),
		StopInstanceBeforeDetaching: pulumi.Bool(true), // so that the file system is unmounted
	}, b.Options(pulumi.DeleteBeforeReplace(true))...)
	if err != nil {
		return machine{}, fmt.Errorf("attach data volume %s: %w", b.Name("attachment"), err)
	}
	return machine{instance, attachment}, nil
}
