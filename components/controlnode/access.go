package controlnode

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/components/internal/session"
	"github.com/emr-observatory/emr-observatory/platform"
)

// access is the control node's role with its policy and instance profile.
type access struct {
	role    *iam.Role
	policy  *iam.RolePolicy
	profile *iam.InstanceProfile
}

// createRole creates the node's role. The role has no AWS-managed policy.
func (b *builder) createRole(parameterARNs []pulumi.StringInput) (access, error) {
	trust := iampolicy.Render(b.Ctx, b.Parent, func(a iampolicy.Account, _ []string) iampolicy.Document {
		return iampolicy.Trust("EC2", "ec2."+a.DNSSuffix, nil)
	})
	role, err := iam.NewRole(b.Ctx, b.Name("role"), &iam.RoleArgs{
		Description:         pulumi.String("Control node of the EMR observatory"),
		AssumeRolePolicy:    trust,
		PermissionsBoundary: iampolicy.Boundary(b.args.Identity), Path: iampolicy.Path(b.args.Identity),
		Tags: b.Tags("role"),
	}, b.Options()...)
	if err != nil {
		return access{}, fmt.Errorf("create role %s: %w", b.Name("role"), err)
	}
	values := append([]pulumi.StringInput{b.args.BucketARN, b.args.KMSKeyARN}, parameterARNs...)
	policy, err := iam.NewRolePolicy(b.Ctx, b.Name("access"), &iam.RolePolicyArgs{
		Role: role.Name,
		Policy: iampolicy.Render(b.Ctx, b.Parent, func(a iampolicy.Account, v []string) iampolicy.Document {
			policy := nodePolicy(a, b.args.Region, v[0], v[1], v[2:], platform.StackTags(b.Ctx.Stack()))
			policy.Statement = append(policy.Statement, b.traceHeaders(a)...)
			policy.Statement = append(policy.Statement, b.profiler(a, v[0])...)
			return policy
		}, values...),
	}, b.Options()...)
	if err != nil {
		return access{}, fmt.Errorf("create policy %s: %w", b.Name("access"), err)
	}
	profile, err := iam.NewInstanceProfile(b.Ctx, b.Name("profile"), &iam.InstanceProfileArgs{
		Role: role.Name,
		Path: iampolicy.Path(b.args.Identity),
		Tags: b.Tags("profile"),
	}, b.Options()...)
	if err != nil {
		return access{}, fmt.Errorf("create instance profile %s: %w", b.Name("profile"), err)
	}
	return access{role, policy, profile}, nil
}

// nodePolicy grants everything that the node and its pods may do. The resource
// is "*" only for actions without resource-level permissions (Service
// Authorization Reference). tags are those of the stack's own clusters.
func nodePolicy(
	a iampolicy.Account, region, bucketARN, keyARN string, parameterARNs []string, tags map[string]string,
) iampolicy.Document {
	objectsUnder := func(prefixes ...platform.Prefix) []string {
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
			Resource: objectsUnder(platform.PrefixTempo, platform.PrefixPyroscope),
		},
		{
			Sid: "Artifacts", Effect: iampolicy.Allow,
			Action: []string{"s3:GetObject"}, Resource: objectsUnder(platform.PrefixArtifacts),
		},
		{
			Sid: "ListOwnPrefixes", Effect: iampolicy.Allow,
			Action: []string{"s3:ListBucket"}, Resource: []string{bucketARN},
			Condition: iampolicy.UnderPrefixes(platform.PrefixTempo, platform.PrefixPyroscope, platform.PrefixArtifacts),
		},
		{
			Sid: "FindBucket", Effect: iampolicy.Allow,
			Action: []string{"s3:GetBucketLocation"}, Resource: []string{bucketARN},
		},
		{
			Sid: "UseKey", Effect: iampolicy.Allow,
			Action: []string{"kms:Decrypt", "kms:GenerateDataKey"}, Resource: []string{keyARN},
			Condition: iampolicy.Condition{"StringEquals": {"kms:ViaService": {a.Service("s3", region), a.Service("ssm", region)}}},
		},
		{
			Sid: "OwnCertificates", Effect: iampolicy.Allow, // their keys: see bootPolicy
			Action: []string{"ssm:GetParameter"}, Resource: parameterARNs,
		},
		{
			Sid: "ReadCloudWatch", Effect: iampolicy.Allow,
			Action:   []string{"cloudwatch:GetMetricData", "cloudwatch:GetMetricStatistics", "cloudwatch:ListMetrics", "tag:GetResources"},
			Resource: []string{"*"}, Condition: inRegion,
		},
		listSteps(a, region, tags), describeClusters(a, region),
		{
			Sid: "ListClusters", Effect: iampolicy.Allow,
			Action: []string{"elasticmapreduce:ListClusters"}, Resource: []string{"*"}, Condition: inRegion,
		},
	}, session.Statements(a, region)...)...)
}

// traceHeaders allows the collector's pod to read the headers for the second
// destination of traces. AWS's own key aws/ssm lets whoever may read a parameter
// decrypt it; of other keys the role may use the stack's.
func (b *builder) traceHeaders(a iampolicy.Account) []iampolicy.Statement {
	name := b.args.TraceHeadersParameter
	if name == "" {
		return nil
	}
	return []iampolicy.Statement{{
		Sid: "TraceHeaders", Effect: iampolicy.Allow, Action: []string{"ssm:GetParameter"},
		Resource: []string{"arn:" + a.Partition + ":ssm:" + b.args.Region + ":" + a.ID + ":parameter" + name},
	}}
}

// listSteps allows the status server to list the steps of clusters with all these tags,
// for its page and for their spans. The profiler's statements add those of all others.
// The cluster's id is no part of it: the control node exists before the cluster
// (Service Authorization Reference, "Amazon Elastic MapReduce": resource type cluster,
// condition key elasticmapreduce:ResourceTag).
func listSteps(a iampolicy.Account, region string, tags map[string]string) iampolicy.Statement {
	return iampolicy.Statement{
		Sid: "ListSteps", Effect: iampolicy.Allow, Action: []string{"elasticmapreduce:ListSteps"},
		Resource:  everyCluster(a, region),
		Condition: withTags(tags),
	}
}

// withTags is the condition that a cluster has all these tags; nil without tags. Each action of
// EMR on a cluster takes it.
func withTags(tags map[string]string) iampolicy.Condition {
	if len(tags) == 0 {
		return nil
	}
	tagged := map[string][]string{}
	for key, value := range tags {
		tagged["elasticmapreduce:ResourceTag/"+key] = []string{value}
	}
	return iampolicy.Condition{"StringEquals": tagged}
}

// describeClusters allows the status server to read the name and state of every cluster
// that reports here. Those that others start have their own tags, so tags are no
// condition.
func describeClusters(a iampolicy.Account, region string) iampolicy.Statement {
	return iampolicy.Statement{
		Sid: "DescribeClusters", Effect: iampolicy.Allow,
		Action:   []string{"elasticmapreduce:DescribeCluster", "elasticmapreduce:ListBootstrapActions", "elasticmapreduce:ListInstances"},
		Resource: everyCluster(a, region),
	}
}

func everyCluster(a iampolicy.Account, region string) []string {
	return []string{"arn:" + a.Partition + ":elasticmapreduce:" + region + ":" + a.ID + ":cluster/*"}
}
