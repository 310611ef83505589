package emr

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/schema"
)

// scalingRolePolicy is EMR's managed policy for automatic scaling, without the
// partition's part of the ARN.
const scalingRolePolicy = "service-role/AmazonElasticMapReduceforAutoScalingRole"

// createWorkers adds to the running cluster what is a resource of its own: task nodes,
// and the policy by which EMR scales.
func (b *builder) createWorkers(cluster *emr.Cluster) error {
	workers, err := b.createTaskGroups(cluster)
	if err != nil {
		return err
	}
	if b.args.Fleets != nil && b.args.Fleets.Task != nil {
		fleet, err := b.createTaskFleet(cluster, *b.args.Fleets.Task)
		if err != nil {
			return err
		}
		workers = append(workers, fleet)
	}
	return b.createManagedScaling(cluster, workers)
}

// createManagedScaling puts the policy of managed scaling. Every edit replaces it, and
// its id is the cluster's: the deletion of the old policy would remove the new one.
func (b *builder) createManagedScaling(cluster *emr.Cluster, workers []pulumi.Resource) error {
	m := b.args.ManagedScaling
	if m == nil {
		return nil
	}
	limits := emr.ManagedScalingPolicyComputeLimitArgs{
		UnitType: pulumi.String(m.Unit), MinimumCapacityUnits: pulumi.Int(m.Min), MaximumCapacityUnits: pulumi.Int(m.Max),
	}
	if m.MaxCore != nil {
		limits.MaximumCoreCapacityUnits = pulumi.Int(*m.MaxCore)
	}
	if m.MaxOnDemand != nil {
		limits.MaximumOndemandCapacityUnits = pulumi.Int(*m.MaxOnDemand)
	}
	_, err := emr.NewManagedScalingPolicy(b.Ctx, b.Name("scaling"), &emr.ManagedScalingPolicyArgs{
		ClusterId: cluster.ID(), ComputeLimits: emr.ManagedScalingPolicyComputeLimitArray{limits},
	}, b.Options(pulumi.DeleteBeforeReplace(true), pulumi.DeletedWith(cluster), pulumi.DependsOn(workers))...)
	if err != nil {
		return fmt.Errorf("create managed scaling policy: %w", err)
	}
	return nil
}

// createScalingRole creates the role with which rules of automatic scaling act. It
// returns nil if there are none.
func (b *builder) createScalingRole() (*serviceRole, error) {
	if !b.args.scales() {
		return nil, nil // a nil role has no resources
	}
	role, err := iam.NewRole(b.Ctx, b.Name("scaling"), &iam.RoleArgs{
		Description: pulumi.String("Automatic scaling of the EMR cluster"), Tags: b.tags(),
		PermissionsBoundary: iampolicy.Boundary(b.args.Identity), Path: iampolicy.Path(b.args.Identity),
		AssumeRolePolicy: b.renderPolicy(func(a iampolicy.Account, _ []string) iampolicy.Document { return scalingTrust(a, b.args.Region) }),
	}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create scaling role: %w", err)
	}
	managed, err := b.attachManagedPolicy("scaling", role, scalingRolePolicy)
	if err != nil {
		return nil, err
	}
	return &serviceRole{arn: role.Arn, policies: []pulumi.Resource{managed}}, nil
}

// scales reports whether rules scale a group.
func (a *Args) scales() bool {
	return slices.ContainsFunc(a.Groups(), func(g schema.InstanceGroup) bool { return g.AutoScaling != nil })
}

// resources returns the role's policies, none of no role.
func (r *serviceRole) resources() []pulumi.Resource {
	if r == nil {
		return nil
	}
	return r.policies
}

// scalingTrust lets EMR and Application Auto Scaling assume the role, for clusters of
// this account and region only (EMR Management Guide, "Service role for automatic
// scaling").
func scalingTrust(a iampolicy.Account, region string) iampolicy.Document {
	d := serviceTrust(a, region)
	scaling := iampolicy.Trust("ScalingOfThisAccount", applicationAutoScaling(a), iampolicy.Condition{
		"StringEquals": {"aws:SourceAccount": {a.ID}},
		"ArnLike":      {"aws:SourceArn": {"arn:" + a.Partition + ":application-autoscaling:" + region + ":" + a.ID + ":scalable-target/*"}},
	})
	d.Statement = append(d.Statement, scaling.Statement...)
	return d
}

func applicationAutoScaling(a iampolicy.Account) string {
	return "application-autoscaling." + a.DNSSuffix
}

// passScalingRole lets EMR give the role to Application Auto Scaling: EMR's managed
// policy names its default role only.
func passScalingRole(a iampolicy.Account, roleARN string) iampolicy.Statement {
	return iampolicy.Statement{
		Sid: "PassScalingRole", Effect: iampolicy.Allow, Action: []string{"iam:PassRole"}, Resource: []string{roleARN},
		Condition: iampolicy.Condition{"StringLike": {"iam:PassedToService": {applicationAutoScaling(a) + "*"}}},
	}
}

// The shape of a scaling policy in EMR's API. The provider compares the text with EMR's
// answer, which has every default: so has this one. It leaves out the dimension, which
// the provider does not read back.
type (
	policyDocument struct {
		Constraints constraints
		Rules       []policyRule
	}
	constraints struct{ MinCapacity, MaxCapacity int }
	policyRule  struct {
		Name        string
		Description string `json:",omitempty"` // the provider drops empty texts of the answer
		Action      struct {
			SimpleScalingPolicyConfiguration simpleScaling
		}
		Trigger struct {
			CloudWatchAlarmDefinition alarm
		}
	}
	simpleScaling struct {
		AdjustmentType    string
		ScalingAdjustment int
		CoolDown          int
	}
	alarm struct {
		ComparisonOperator string
		EvaluationPeriods  int
		MetricName         string
		Namespace          string
		Period             int
		Statistic          string
		Threshold          float64
		Unit               string
	}
)

// scalingPolicy renders the rules of a group, "" if it has none.
func scalingPolicy(a *schema.AutoScaling) string {
	if a == nil {
		return ""
	}
	d := policyDocument{Constraints: constraints{a.Min, a.Max}}
	for _, r := range a.Rules {
		rule := policyRule{Name: r.Name, Description: r.Description}
		rule.Action.SimpleScalingPolicyConfiguration = simpleScaling{r.AdjustmentType, r.Adjustment, r.CoolDownSeconds}
		rule.Trigger.CloudWatchAlarmDefinition = alarm{
			r.Comparison, r.EvaluationPeriods, r.Metric, "AWS/ElasticMapReduce", r.PeriodSeconds, r.Statistic, r.Threshold, r.Unit(),
		}
		d.Rules = append(d.Rules, rule)
	}
	text, err := json.Marshal(d)
	if err != nil {
		return "" // only numbers that JSON lacks, which no configuration can hold
	}
	return string(text)
}
