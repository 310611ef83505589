package schedules

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/scheduler"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/sqs"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/child"
	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/observe/runjobflow"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// TypeToken is the component's type.
const TypeToken = platform.Name + ":schedules:Schedules"

// lostRunsSeconds are the 14 days for which the queue keeps a run that did not start, the most that SQS allows.
const lostRunsSeconds = 14 * 24 * 3600

// Schedules start steps.
type Schedules struct {
	pulumi.ResourceState

	GroupName pulumi.StringOutput `pulumi:"groupName"` // of the schedules, whose names are their keys
	QueueURL  pulumi.StringOutput `pulumi:"queueUrl"`  // of what did not start
}

type builder struct {
	child.Builder
	args  *Args
	group *scheduler.ScheduleGroup
	queue *sqs.Queue
}

// New creates the schedules. It registers nothing if args are invalid.
func New(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*Schedules, error) {
	if err := args.Validate(); err != nil {
		return nil, err
	}
	s := &Schedules{}
	children, err := child.Register(ctx, s, TypeToken, name, pulumi.Map{"region": pulumi.String(args.Region)}, opts...)
	if err != nil {
		return nil, err
	}
	b := &builder{Builder: children, args: args}
	if b.group, err = scheduler.NewScheduleGroup(ctx, b.Name("group"), &scheduler.ScheduleGroupArgs{Tags: b.Tags("group")},
		b.Options()...); err != nil {
		return nil, fmt.Errorf("create schedule group: %w", err)
	}
	if b.queue, err = sqs.NewQueue(ctx, b.Name("lost"), &sqs.QueueArgs{
		SqsManagedSseEnabled: pulumi.Bool(true), MessageRetentionSeconds: pulumi.Int(lostRunsSeconds), Tags: b.Tags("lost"),
	}, b.Options()...); err != nil {
		return nil, fmt.Errorf("create queue of lost runs: %w", err)
	}
	if err := b.letControlNodeRead(); err != nil {
		return nil, err
	}
	role, policy, err := b.createRole()
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(args.Schedules)) {
		if err := b.createSchedule(key, args.Schedules[key], role, policy); err != nil {
			return nil, err
		}
	}
	s.GroupName, s.QueueURL = b.group.Name, b.queue.Url
	return s, b.RegisterOutputs()
}

// letControlNodeRead lets the control node report what did not start.
func (b *builder) letControlNodeRead() error {
	_, err := iam.NewRolePolicy(b.Ctx, b.Name("lost"), &iam.RolePolicyArgs{
		Role: b.args.ControlRoleName,
		Policy: iampolicy.Render(b.Ctx, b.Parent, func(_ iampolicy.Account, v []string) iampolicy.Document {
			return iampolicy.New(iampolicy.Statement{
				Sid: "ReadLostRuns", Effect: iampolicy.Allow, Action: []string{"sqs:ReceiveMessage", "sqs:DeleteMessage"}, Resource: []string{v[0]},
			})
		}, b.queue.Arn),
	}, b.Options()...)
	if err != nil {
		return fmt.Errorf("let the control node read the queue of lost runs: %w", err)
	}
	return nil
}

// createRole creates the role of the calls. The schedules wait for its policy: a run that starts before
// it would be lost.
func (b *builder) createRole() (*iam.Role, pulumi.Resource, error) {
	role, err := iam.NewRole(b.Ctx, b.Name("start"), &iam.RoleArgs{
		Description: pulumi.String("EventBridge Scheduler: starts steps of EMR clusters"), Tags: b.Tags("start"),
		PermissionsBoundary: iampolicy.Boundary(b.args.Identity), Path: iampolicy.Path(b.args.Identity),
		AssumeRolePolicy: iampolicy.Render(b.Ctx, b.Parent, func(a iampolicy.Account, v []string) iampolicy.Document {
			return trust(a, v[0])
		}, b.group.Arn),
	}, b.Options()...)
	if err != nil {
		return nil, nil, fmt.Errorf("create role of schedules: %w", err)
	}
	policy, err := iam.NewRolePolicy(b.Ctx, b.Name("start"), &iam.RolePolicyArgs{Role: role.Name, Policy: b.policy()}, b.Options()...)
	if err != nil {
		return nil, nil, fmt.Errorf("create policy of schedules: %w", err)
	}
	return role, policy, nil
}

// policy returns the policy of the calls.
func (b *builder) policy() pulumi.StringOutput {
	var ids, roles []pulumi.StringInput
	var launched, services []string
	for _, key := range b.args.clusterKeys() {
		c := b.args.Clusters[key]
		if c.Launch == nil {
			ids = append(ids, c.ID)
			continue
		}
		launched = append(launched, key)
		for _, p := range c.Launch.passed() {
			roles, services = append(roles, p.arn), append(services, p.service)
		}
	}
	return iampolicy.Render(b.Ctx, b.Parent, func(a iampolicy.Account, v []string) iampolicy.Document {
		g := granted{queueARN: v[0], clusterIDs: v[1 : 1+len(ids)], launched: launched}
		for i, arn := range v[1+len(ids):] {
			g.passed = append(g.passed, passed{arn, services[i]})
		}
		return allow(a, b.args.Region, g)
	}, slices.Concat([]pulumi.StringInput{b.queue.Arn}, ids, roles)...)
}

func (b *builder) createSchedule(key string, s schema.Schedule, role *iam.Role, policy pulumi.Resource) error {
	cluster := b.args.Clusters[s.Cluster]
	call, description := addSteps, "Steps of the cluster "+s.Cluster
	var input pulumi.StringOutput
	if cluster.Launch != nil {
		call, description, input = runJobFlow, "Clusters "+s.Cluster, cluster.Launch.Input(key, s.Steps)
	} else {
		input = output.Map(cluster.ID, func(id string) (string, error) { return runjobflow.ScheduledSteps(id, key, s.Steps) })
	}
	start, end, enabled := b.dates(input, s)
	const minute = 60
	args := &scheduler.ScheduleArgs{
		Name: pulumi.String(key), GroupName: b.group.Name, Description: pulumi.String(description),
		ScheduleExpression: pulumi.String(s.Expression), ScheduleExpressionTimezone: pulumi.String(s.Timezone), StartDate: start, EndDate: end,
		State:              enabled,
		FlexibleTimeWindow: scheduler.ScheduleFlexibleTimeWindowArgs{Mode: pulumi.String("OFF")},
		Target: scheduler.ScheduleTargetArgs{
			Arn: targetARN(b.Ctx, b.Parent, call), RoleArn: role.Arn, Input: input,
			RetryPolicy: scheduler.ScheduleTargetRetryPolicyArgs{
				MaximumRetryAttempts: pulumi.Int(s.Retries), MaximumEventAgeInSeconds: pulumi.Int(s.MaxAgeMinutes * minute),
			},
			DeadLetterConfig: scheduler.ScheduleTargetDeadLetterConfigArgs{Arn: b.queue.Arn},
		},
	}
	// A name is unique in its group: the old schedule goes first.
	opts := b.Options(pulumi.DependsOn([]pulumi.Resource{policy}), pulumi.DeleteBeforeReplace(true))
	if _, err := scheduler.NewSchedule(b.Ctx, b.Name(key), args, opts...); err != nil {
		return fmt.Errorf("create schedule %s: %w", key, err)
	}
	return nil
}

// dates returns the dates and the state of a schedule as they are once the cluster is there, which may take longer
// than EventBridge allows a start to lie in the past.
func (b *builder) dates(cluster pulumi.StringOutput, s schema.Schedule) (start, end pulumi.StringPtrInput, state pulumi.StringInput) {
	at := func(choose func(dated) *string) pulumi.StringPtrInput {
		return output.Optional(cluster, func(string) *string { return choose(datesAt(s, b.args.Now())) })
	}
	if s.Start != "" { // else there is no such argument, now and later
		start = at(func(d dated) *string { return d.start })
	}
	if s.End == "" {
		return start, nil, pulumi.String(datesAt(s, b.args.Now()).state)
	}
	return start, at(func(d dated) *string { return d.end }), output.Map(cluster, func(string) (string, error) {
		return datesAt(s, b.args.Now()).state, nil
	})
}

// dated are the dates of a schedule, nil for none, and its state.
type dated struct {
	start, end *string
	state      string
}

// datesAt returns what EventBridge takes at a time. It refuses a start of more than five minutes ago, in an update
// as well, so that a start that has passed is left out; a schedule that has ended is disabled.
func datesAt(s schema.Schedule, now time.Time) dated {
	out := dated{state: "ENABLED"}
	if !s.Enabled {
		out.state = "DISABLED"
	}
	times, err := s.Times(now)
	if err != nil {
		return out // of no valid configuration
	}
	utc := func(t time.Time) *string {
		text := t.UTC().Format(time.RFC3339)
		return &text
	}
	if s.Start != "" && times.Start.After(now) {
		out.start = utc(times.Start)
	}
	switch {
	case times.End.IsZero():
	case times.End.After(now):
		out.end = utc(times.End)
	default:
		out.state = "DISABLED"
	}
	return out
}
