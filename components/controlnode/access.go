package controlnode

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/components/internal/session"
	"github.com/emr-observatory/emr-observatory/platform"
)

type access struct {
	role    *iam.Role
	policy  *iam.RolePolicy
	profile *iam.InstanceProfile
}

// access makes the node's role. It has no AWS-managed policy.
func (b *builder) access(parameterARNs []pulumi.StringInput) (access, error) {
	trust := iampolicy.Render(b.ctx, b.parent, func(a iampolicy.Account, _ []string) iampolicy.Document {
		return iampolicy.Trust("EC2", "ec2."+a.DNSSuffix, nil)
	})
	role, err := iam.NewRole(b.ctx, b.name("role"), &iam.RoleArgs{
		Description:      pulumi.String("Control node of the EMR observatory"),
		AssumeRolePolicy: trust,
		Tags:             b.tags("role"),
	}, b.child()...)
	if err != nil {
		return access{}, fmt.Errorf("create role %s: %w", b.name("role"), err)
	}
	values := append([]pulumi.StringInput{b.args.BucketARN, b.args.KMSKeyARN}, parameterARNs...)
	policy, err := iam.NewRolePolicy(b.ctx, b.name("access"), &iam.RolePolicyArgs{
		Role: role.Name,
		Policy: iampolicy.Render(b.ctx, b.parent, func(a iampolicy.Account, v []string) iampolicy.Document {
			return nodePolicy(a, b.args.Region, v[0], v[1], v[2:])
		}, values...),
	}, b.child()...)
	if err != nil {
		return access{}, fmt.Errorf("create policy %s: %w", b.name("access"), err)
	}
	profile, err := iam.NewInstanceProfile(b.ctx, b.name("profile"), &iam.InstanceProfileArgs{
		Role: role.Name,
		Tags: b.tags("profile"),
	}, b.child()...)
	if err != nil {
		return access{}, fmt.Errorf("create instance profile %s: %w", b.name("profile"), err)
	}
	return access{role, policy, profile}, nil
}

// nodePolicy is all that the node and its pods may do. Resource "*" stands
// only where the service knows no resources for the action (Service
// Authorization Reference).
func nodePolicy(a iampolicy.Account, region, bucketARN, keyARN string, parameterARNs []string) iampolicy.Document {
	within := func(prefixes ...platform.Prefix) []string {
		var out []string
		for _, p := range prefixes {
			out = append(out, bucketARN+"/"+string(p)+"*")
		}
		return out
	}
	inRegion := iampolicy.Condition{"StringEquals": {"aws:RequestedRegion": {region}}}
	return iampolicy.New(append([]iampolicy.Statement{
		{
			Sid: "TelemetryBlocks", Effect: iampolicy.Allow,
			Action:   []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"},
			Resource: within(platform.PrefixTempo, platform.PrefixPyroscope),
		},
		{
			Sid: "Artifacts", Effect: iampolicy.Allow,
			Action: []string{"s3:GetObject"}, Resource: within(platform.PrefixArtifacts),
		},
		{
			Sid: "ListOwnPrefixes", Effect: iampolicy.Allow,
			Action: []string{"s3:ListBucket"}, Resource: []string{bucketARN},
			Condition: iampolicy.Condition{"StringLike": {"s3:prefix": listed(platform.PrefixTempo, platform.PrefixPyroscope, platform.PrefixArtifacts)}},
		},
		{
			Sid: "FindBucket", Effect: iampolicy.Allow,
			Action: []string{"s3:GetBucketLocation"}, Resource: []string{bucketARN},
		},
		{
			Sid: "UseKey", Effect: iampolicy.Allow,
			Action: []string{"kms:Decrypt", "kms:GenerateDataKey"}, Resource: []string{keyARN},
			Condition: iampolicy.Condition{"StringEquals": {"kms:ViaService": {"s3." + region + "." + a.DNSSuffix, "ssm." + region + "." + a.DNSSuffix}}},
		},
		{
			Sid: "OwnAuthorities", Effect: iampolicy.Allow,
			Action: []string{"ssm:GetParameter"}, Resource: parameterARNs,
		},
		{
			Sid: "ReadCloudWatch", Effect: iampolicy.Allow,
			Action:   []string{"cloudwatch:GetMetricData", "cloudwatch:GetMetricStatistics", "cloudwatch:ListMetrics", "tag:GetResources"},
			Resource: []string{"*"}, Condition: inRegion,
		},
	}, session.Statements(a, region)...)...)
}

// listed are the values of s3:prefix for listing a prefix and below: clients
// ask for it with and without its slash.
func listed(prefixes ...platform.Prefix) []string {
	var out []string
	for _, p := range prefixes {
		out = append(out, p.Name(), string(p)+"*")
	}
	return out
}
