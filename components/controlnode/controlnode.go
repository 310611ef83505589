package controlnode

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/child"
	"github.com/emr-observatory/emr-observatory/platform"
)

// TypeToken is the component's type.
const TypeToken = platform.Name + ":controlnode:ControlNode"

// ControlNode is the EC2 instance that runs K3s, with its data volume, role and
// certificates.
type ControlNode struct {
	pulumi.ResourceState

	InstanceID   pulumi.StringOutput `pulumi:"instanceId"`
	PrivateIP    pulumi.StringOutput `pulumi:"privateIp"`    // of the network interface; known before the instance boots
	PublicIP     pulumi.StringOutput `pulumi:"publicIp"`     // "" unless Access is public; known before the instance boots
	Host         pulumi.StringOutput `pulumi:"host"`         // under which operators and the program reach the node
	DataVolumeID pulumi.StringOutput `pulumi:"dataVolumeId"` // the cluster's identity: it holds the datastore
	RoleARN      pulumi.StringOutput `pulumi:"roleArn"`
	RoleName     pulumi.StringOutput `pulumi:"roleName"`
	ToolsRoleARN pulumi.StringOutput `pulumi:"toolsRoleArn"` // reads the profiler's tables; "" without the profiler
	Kubeconfig   pulumi.StringOutput `pulumi:"kubeconfig"`   // secret; resolves only after the API is ready
	APIServer    pulumi.StringOutput `pulumi:"apiServer"`    // https://<host>:6443, or the local end of a tunnel

	// Ready is the gate: what depends on it waits until the API answers.
	Ready pulumi.Resource
}

// New builds the control node. It registers nothing when args are invalid.
func New(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*ControlNode, error) {
	if err := args.Validate(); err != nil {
		return nil, err
	}
	c := &ControlNode{}
	children, err := child.Register(ctx, c, TypeToken, name, pulumi.Map{
		"region": pulumi.String(args.Region), "instanceType": pulumi.String(args.InstanceType), "arch": pulumi.String(args.Arch),
		"privateIp": pulumi.String(args.PrivateIP), "dataVolumeGiB": pulumi.Int(args.DataVolumeGiB), "ephemeral": pulumi.Bool(args.Ephemeral),
		"access": pulumi.String(args.Access), "subnetId": args.SubnetID, "vpcId": args.VPCID, "bucket": args.Bucket,
	}, opts...)
	if err != nil {
		return nil, err
	}
	b := &builder{Builder: children, args: args}

	at, err := b.createAddresses()
	if err != nil {
		return nil, err
	}
	volume, err := b.createDataVolume()
	if err != nil {
		return nil, err
	}
	pki, err := b.createPKI()
	if err != nil {
		return nil, err
	}
	access, err := b.createRole(pki.parameterARNs(certificateFile))
	if err != nil {
		return nil, err
	}
	toolsRole, err := b.createToolsRole(access.role)
	if err != nil {
		return nil, err
	}
	machine, err := b.createInstance(at, volume, pki, access)
	if err != nil {
		return nil, err
	}
	allowed, err := b.allowBoot(access.role, machine, pki)
	if err != nil {
		return nil, err
	}
	gate, err := b.createGate(at, machine, pki, allowed)
	if err != nil {
		return nil, err
	}

	c.InstanceID = machine.instance.ID().ToStringOutput()
	c.PrivateIP, c.PublicIP, c.Host, c.APIServer = at.private(), at.public, at.host, at.apiServer
	c.DataVolumeID = volume.ID().ToStringOutput()
	c.RoleARN, c.RoleName, c.ToolsRoleARN = access.role.Arn, access.role.Name, toolsRole
	c.Kubeconfig, c.Ready = kubeconfig(at, pki, gate), gate
	return c, b.RegisterOutputs()
}

type builder struct {
	child.Builder
	args *Args
}
