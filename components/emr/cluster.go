package emr

import (
	"fmt"
	"slices"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/child"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/components/internal/securitygroup"
	"github.com/emr-observatory/emr-observatory/platform"
)

// TypeToken is the component's type.
const TypeToken = platform.Name + ":emr:Cluster"

// bootstrapName is the bootstrap action's name in EMR's console and logs.
const bootstrapName = platform.Name

// ResourceName is the logical name of the cluster's resource in the component with
// this name.
func ResourceName(component string) string { return child.NameOf(component, clusterRole) }

const clusterRole = "cluster"

// Cluster is the running cluster.
type Cluster struct {
	pulumi.ResourceState

	ClusterID          pulumi.StringOutput `pulumi:"clusterId"` // j-…, the value of the label platform.Cluster
	MasterDNS          pulumi.StringOutput `pulumi:"masterDns"` // private name: the subnet is private
	ServiceRoleARN     pulumi.StringOutput `pulumi:"serviceRoleArn"`
	NodeRoleARN        pulumi.StringOutput `pulumi:"nodeRoleArn"`
	NodeRoleName       pulumi.StringOutput `pulumi:"nodeRoleName"` // attach here what jobs need beyond lake/
	InstanceProfileARN pulumi.StringOutput `pulumi:"instanceProfileArn"`
	LogURI             pulumi.StringOutput `pulumi:"logUri"` // s3://…/, of this cluster only

	MasterSecurityGroupID        pulumi.StringOutput `pulumi:"masterSecurityGroupId"`
	CoreSecurityGroupID          pulumi.StringOutput `pulumi:"coreSecurityGroupId"` // core and task
	ServiceAccessSecurityGroupID pulumi.StringOutput `pulumi:"serviceAccessSecurityGroupId"`

	// Launch is how schedules start the cluster; nil if the update does. ClusterID and MasterDNS are then empty.
	Launch *Launch
}

// New builds the cluster and waits until it is up, or builds what the clusters of schedules need. It registers
// nothing when args are invalid.
func New(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*Cluster, error) {
	if err := args.Validate(); err != nil {
		return nil, err
	}
	configurations, err := args.ConfigurationsJSON()
	if err != nil {
		return nil, err
	}
	c := &Cluster{}
	children, err := child.Register(ctx, c, TypeToken, name, pulumi.Map{
		"releaseLabel": pulumi.String(args.ReleaseLabel), "applications": pulumi.ToStringArray(args.Applications),
		"masterCount": pulumi.Int(args.Master.Count), "coreCount": pulumi.Int(args.Core.Count),
		"subnetId": args.SubnetIDs.ToStringArrayOutput().Index(pulumi.Int(0)), "bucket": args.Bucket, "bootstrapArgs": args.BootstrapArgs,
	}, opts...)
	if err != nil {
		return nil, err
	}
	if err := args.logScaledCounts(ctx, c); err != nil {
		return nil, err
	}
	b := &builder{Builder: children, args: args}
	if err := b.requireSpotRole(); err != nil {
		return nil, err
	}
	node, err := b.createNodeRole()
	if err != nil {
		return nil, err
	}
	if b.scaling, err = b.createScalingRole(); err != nil {
		return nil, err
	}
	service, err := b.createServiceRole(node.arn)
	if err != nil {
		return nil, err
	}
	security, err := b.createSecurityConfiguration()
	if err != nil {
		return nil, err
	}
	groups, err := b.createSecurityGroups()
	if err != nil {
		return nil, err
	}
	p := parts{node, service, security, groups, configurations}
	// With a role that lacks its policies, the cluster fails only after minutes.
	dependencies := slices.Concat(args.After, node.policies, service.policies, b.scaling.resources())
	c.setOutputs(b.logURI(), p)
	if args.OfSchedules() {
		c.ClusterID, c.MasterDNS = pulumi.String("").ToStringOutput(), pulumi.String("").ToStringOutput()
		c.Launch = b.launch(p, dependencies)
		return c, b.RegisterOutputs()
	}
	cluster, err := b.createCluster(p, dependencies)
	if err != nil {
		return nil, err
	}
	c.ClusterID, c.MasterDNS = cluster.ID().ToStringOutput(), cluster.MasterPublicDns
	return c, b.RegisterOutputs()
}

// createCluster creates the cluster with its task nodes.
func (b *builder) createCluster(p parts, dependencies []pulumi.Resource) (*emr.Cluster, error) {
	options, err := b.clusterOptions(dependencies)
	if err != nil {
		return nil, err
	}
	cluster, err := emr.NewCluster(b.Ctx, b.Name(clusterRole), b.clusterArgs(p), b.Options(options...)...)
	if err != nil {
		return nil, fmt.Errorf("create cluster: %w", err)
	}
	return cluster, b.createWorkers(cluster)
}

// setOutputs sets the outputs that do not depend on a running cluster.
func (c *Cluster) setOutputs(logURI pulumi.StringOutput, p parts) {
	c.LogURI, c.ServiceRoleARN, c.InstanceProfileARN = logURI, p.service.arn, p.node.profileARN
	c.NodeRoleARN, c.NodeRoleName = p.node.arn, p.node.name
	c.MasterSecurityGroupID, c.CoreSecurityGroupID = p.groups[groupMaster].Ready, p.groups[groupCore].Ready
	c.ServiceAccessSecurityGroupID = p.groups[groupServiceAccess].Ready
}

type builder struct {
	child.Builder
	args    *Args
	scaling *serviceRole // of automatic scaling; nil without
}

// parts are the resources and the rendered settings that the cluster refers to.
type parts struct {
	node           *nodeRole
	service        *serviceRole
	security       *emr.SecurityConfiguration
	groups         map[string]*securitygroup.Group
	configurations string
}

func (b *builder) logURI() pulumi.StringOutput {
	logs := platform.ClusterLogs(b.args.Key)
	return output.Map(b.args.Bucket, func(bucket string) (string, error) { return logs.URI(bucket), nil })
}
