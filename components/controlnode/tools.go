package controlnode

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/platform"
)

// createToolsRole creates the role of the tools' pod, which may read the profiler's tables only.
// It returns the role's ARN, "" without the profiler. The role trusts its account, on condition
// that the node's role asks: IAM would store a principal that is a role by the role's id, which
// another role of the same name does not have (IAM User Guide, "AWS JSON policy elements:
// Principal").
func (b *builder) createToolsRole(node *iam.Role) (pulumi.StringOutput, error) {
	if !b.args.Profiler.Enabled {
		return pulumi.String("").ToStringOutput(), nil
	}
	role, err := iam.NewRole(b.Ctx, b.Name("tools-role"), &iam.RoleArgs{
		Description: pulumi.String("Reads the EMR observatory's history for people's agents"),
		AssumeRolePolicy: iampolicy.Render(b.Ctx, b.Parent, func(a iampolicy.Account, v []string) iampolicy.Document {
			return iampolicy.New(iampolicy.Statement{
				Sid: "ControlNode", Effect: iampolicy.Allow, Principal: iampolicy.Root(a.Partition, a.ID), Action: []string{iampolicy.AssumeRole},
				Condition: iampolicy.Condition{"ArnEquals": {"aws:PrincipalArn": {v[0]}}},
			})
		}, node.Arn),
		PermissionsBoundary: iampolicy.Boundary(b.args.Identity), Path: iampolicy.Path(b.args.Identity),
		Tags: b.Tags("tools-role"),
	}, b.Options()...)
	if err != nil {
		return pulumi.StringOutput{}, fmt.Errorf("create role %s: %w", b.Name("tools-role"), err)
	}
	if _, err := iam.NewRolePolicy(b.Ctx, b.Name("tools-access"), &iam.RolePolicyArgs{
		Role: role.Name,
		Policy: iampolicy.Render(b.Ctx, b.Parent, func(a iampolicy.Account, v []string) iampolicy.Document {
			return readHistory(a, b.args.Region, v[0], v[1])
		}, b.args.BucketARN, b.args.KMSKeyARN),
	}, b.Options()...); err != nil {
		return pulumi.StringOutput{}, fmt.Errorf("create policy %s: %w", b.Name("tools-access"), err)
	}
	if _, err := iam.NewRolePolicy(b.Ctx, b.Name("assume-tools-role"), &iam.RolePolicyArgs{
		Role: node.Name,
		Policy: iampolicy.Render(b.Ctx, b.Parent, func(_ iampolicy.Account, v []string) iampolicy.Document {
			return iampolicy.New(iampolicy.Statement{
				Sid: "AssumeToolsRole", Effect: iampolicy.Allow, Action: []string{iampolicy.AssumeRole}, Resource: []string{v[0]},
			})
		}, role.Arn),
	}, b.Options()...); err != nil {
		return pulumi.StringOutput{}, fmt.Errorf("create policy %s: %w", b.Name("assume-tools-role"), err)
	}
	return role.Arn, nil
}

// readHistory allows to read the profiler's tables.
func readHistory(a iampolicy.Account, region, bucketARN, keyARN string) iampolicy.Document {
	return iampolicy.New(
		iampolicy.Statement{
			Sid: "ReadHistory", Effect: iampolicy.Allow, Action: []string{"s3:GetObject"},
			Resource: []string{bucketARN + "/" + string(platform.PrefixHistory) + "*"},
		},
		iampolicy.Statement{
			Sid: "ListHistory", Effect: iampolicy.Allow, Action: []string{"s3:ListBucket"}, Resource: []string{bucketARN},
			Condition: iampolicy.UnderPrefixes(platform.PrefixHistory),
		},
		iampolicy.Statement{
			Sid: "UseKey", Effect: iampolicy.Allow, Action: []string{"kms:Decrypt"}, Resource: []string{keyARN},
			Condition: iampolicy.Condition{"StringEquals": {"kms:ViaService": {a.Service("s3", region)}}},
		},
	)
}
