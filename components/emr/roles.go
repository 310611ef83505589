package emr

import (
	"fmt"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
)

// emrServicePolicy is EMR's managed policy, without the partition's part of
// the ARN.
const emrServicePolicy = "service-role/AmazonEMRServicePolicy_v2"

// nodeRole is the role of the cluster's instances. It is usable once its policies
// and its profile exist.
type nodeRole struct {
	arn, name, profileARN pulumi.StringOutput
	profileCreated        pulumi.StringOutput // date; of an own profile
	policies              []pulumi.Resource
}

// propagation is how long other services may not see an instance profile that IAM has created (IAM User Guide, "Changes
// that I make are not always immediately visible", which gives no figure). Of a cluster of its own, the AWS provider
// repeats the call meanwhile.
const propagation = 15 * time.Second

// visibleProfile returns the ARN of the profile once other services see it, for who does not repeat a call that was
// refused: EventBridge, whose first run may be due at once.
func (r *nodeRole) visibleProfile() pulumi.StringOutput {
	if r.profileCreated.OutputState == nil {
		return r.profileARN // an existing one
	}
	return output.Join([]pulumi.StringInput{r.profileARN, r.profileCreated}, func(v []string) (string, error) {
		time.Sleep(untilVisible(v[1], time.Now()))
		return v[0], nil
	})
}

// untilVisible is 0 or less for a profile that was created long ago, or at a time that is unknown.
func untilVisible(created string, now time.Time) time.Duration {
	at, err := time.Parse(time.RFC3339, created)
	if err != nil {
		return 0
	}
	return min(at.Add(propagation).Sub(now), propagation) // clocks differ
}

// serviceRole is the role of EMR itself.
type serviceRole struct {
	arn      pulumi.StringOutput
	policies []pulumi.Resource
}

func (b *builder) createNodeRole() (*nodeRole, error) {
	if b.args.InstanceProfileARN != "" {
		return b.useNodeRole(b.args.InstanceProfileARN)
	}
	role, err := iam.NewRole(b.Ctx, b.Name("node"), &iam.RoleArgs{
		Description: pulumi.String("Instances of the EMR cluster"), Tags: b.tags(),
		// Other stacks attach policies to this role, and IAM deletes no role that has some.
		ForceDetachPolicies: pulumi.Bool(true),
		PermissionsBoundary: iampolicy.Boundary(b.args.Identity), Path: iampolicy.Path(b.args.Identity),
		AssumeRolePolicy: b.renderPolicy(func(a iampolicy.Account, _ []string) iampolicy.Document {
			return iampolicy.Trust("Instances", "ec2."+a.DNSSuffix, nil)
		}),
	}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create node role: %w", err)
	}
	own, err := b.createNodePolicy(role.Name)
	if err != nil {
		return nil, err
	}
	profile, err := iam.NewInstanceProfile(b.Ctx, b.Name("node"), &iam.InstanceProfileArgs{
		Role: role.Name, Path: iampolicy.Path(b.args.Identity), Tags: b.tags(),
	}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create instance profile: %w", err)
	}
	return &nodeRole{
		arn: role.Arn, name: role.Name, profileARN: profile.Arn, profileCreated: profile.CreateDate, policies: []pulumi.Resource{own},
	}, nil
}

// useNodeRole adds the cluster's policy to the role of an existing profile.
func (b *builder) useNodeRole(profileARN string) (*nodeRole, error) {
	profile := iam.LookupInstanceProfileOutput(b.Ctx, iam.LookupInstanceProfileOutputArgs{Name: pulumi.String(nameInARN(profileARN))},
		pulumi.Parent(b.Parent))
	own, err := b.createNodePolicy(profile.RoleName())
	if err != nil {
		return nil, err
	}
	return &nodeRole{
		arn: profile.RoleArn(), name: profile.RoleName(), profileARN: pulumi.String(profileARN).ToStringOutput(),
		policies: []pulumi.Resource{own},
	}, nil
}

// nameInARN returns the name at the end of an IAM ARN, after its path.
func nameInARN(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

// nodeDocument is the inline policy of the cluster's nodes: what the platform needs, the
// configured access, what the cluster runs, and what the security configuration
// needs.
func (a *Args) nodeDocument(account iampolicy.Account, bucketARN, keyARN string) iampolicy.Document {
	d := a.nodePolicy(account, bucketARN, keyARN)
	d.Statement = append(d.Statement, accessStatements(account, a.Region, a.Access)...)
	d.Statement = append(d.Statement, catalogStatements(account, a.Region, a.Cluster)...)
	d.Statement = append(d.Statement, programStatements(account, a.Cluster, a.scheduledSteps())...)
	d.Statement = append(d.Statement, securityStatements(account, a.Cluster)...)
	return d
}

// createNodePolicy adds the policy of the cluster's nodes to a role.
func (b *builder) createNodePolicy(role pulumi.StringInput) (pulumi.Resource, error) {
	policy, err := iam.NewRolePolicy(b.Ctx, b.Name("node"), &iam.RolePolicyArgs{
		Role: role,
		Policy: b.renderPolicy(func(a iampolicy.Account, arns []string) iampolicy.Document {
			return b.args.nodeDocument(a, arns[0], arns[1])
		}, b.args.BucketARN, b.args.KMSKeyARN),
	}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create node policy: %w", err)
	}
	return policy, nil
}

// createServiceRole creates EMR's role, or adds the cluster's policy to an existing one.
func (b *builder) createServiceRole(nodeRoleARN pulumi.StringOutput) (*serviceRole, error) {
	if existing := b.args.ServiceRoleARN; existing != "" {
		own, err := b.createServicePolicy(pulumi.String(nameInARN(existing)), nodeRoleARN)
		if err != nil {
			return nil, err
		}
		return &serviceRole{arn: pulumi.String(existing).ToStringOutput(), policies: []pulumi.Resource{own}}, nil
	}
	role, err := iam.NewRole(b.Ctx, b.Name("service"), &iam.RoleArgs{
		Description: pulumi.String("EMR itself"), Tags: b.tags(),
		PermissionsBoundary: iampolicy.Boundary(b.args.Identity), Path: iampolicy.Path(b.args.Identity),
		AssumeRolePolicy: b.renderPolicy(func(a iampolicy.Account, _ []string) iampolicy.Document {
			return serviceTrust(a, b.args.Region)
		}),
	}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create service role: %w", err)
	}
	managed, err := b.attachManagedPolicy("service", role, emrServicePolicy)
	if err != nil {
		return nil, err
	}
	own, err := b.createServicePolicy(role.Name, nodeRoleARN)
	if err != nil {
		return nil, err
	}
	return &serviceRole{arn: role.Arn, policies: []pulumi.Resource{managed, own}}, nil
}

// serviceDocument is the policy of EMR itself. arns are those of the nodes' role, of the key
// and, if rules scale groups, of the role that does so.
func (a *Args) serviceDocument(account iampolicy.Account, arns []string) iampolicy.Document {
	const withScaling = 3
	d := servicePolicy(account, a.Region, arns[0], arns[1])
	if len(arns) == withScaling {
		d.Statement = append(d.Statement, passScalingRole(account, arns[2]))
	}
	return d
}

func (b *builder) createServicePolicy(role pulumi.StringInput, nodeRoleARN pulumi.StringOutput) (pulumi.Resource, error) {
	values := []pulumi.StringInput{nodeRoleARN, b.args.KMSKeyARN}
	if b.scaling != nil {
		values = append(values, b.scaling.arn)
	}
	own, err := iam.NewRolePolicy(b.Ctx, b.Name("service"), &iam.RolePolicyArgs{
		Role:   role,
		Policy: b.renderPolicy(b.args.serviceDocument, values...),
	}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create service policy: %w", err)
	}
	return own, nil
}

func (b *builder) renderPolicy(f func(iampolicy.Account, []string) iampolicy.Document, values ...pulumi.StringInput) pulumi.StringOutput {
	return iampolicy.Render(b.Ctx, b.Parent, f, values...)
}

// attachManagedPolicy attaches an AWS-managed policy to a role.
func (b *builder) attachManagedPolicy(suffix string, role *iam.Role, policy string) (pulumi.Resource, error) {
	a, err := iam.NewRolePolicyAttachment(b.Ctx, b.Name(suffix), &iam.RolePolicyAttachmentArgs{
		Role: role.Name, PolicyArn: iampolicy.Managed(b.Ctx, b.Parent, policy),
	}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("attach %s: %w", policy, err)
	}
	return a, nil
}
