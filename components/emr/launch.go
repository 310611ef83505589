package emr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/observe/runjobflow"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Launch is what starts a cluster of schedules.
type Launch struct {
	// Input returns the input of RunJobFlow, in JSON, that starts a cluster for the steps of a schedule. It is known
	// once all that it names exists.
	Input func(schedule string, steps []schema.Step) pulumi.StringOutput

	ServiceRoleARN, NodeRoleARN pulumi.StringInput
	ScalingRoleARN              pulumi.StringInput // nil without rules of scaling
}

// launch returns what starts a cluster once the dependencies exist.
func (b *builder) launch(p parts, dependencies []pulumi.Resource) *Launch {
	a := b.args
	l := &Launch{ServiceRoleARN: p.service.arn, NodeRoleARN: p.node.arn}
	scaling := pulumi.StringInput(pulumi.String(""))
	if b.scaling != nil {
		l.ScalingRoleARN, scaling = b.scaling.arn, b.scaling.arn
	}
	texts := []pulumi.StringInput{
		p.service.arn, p.node.visibleProfile(), scaling,
		p.groups[groupMaster].Ready, p.groups[groupCore].Ready, p.groups[groupServiceAccess].Ready,
		p.security.Name, b.logURI(), a.KMSKeyARN, a.Bucket, a.ObservedSecurityGroupID, a.BootstrapPath,
	}
	l.Input = func(schedule string, steps []schema.Step) pulumi.StringOutput {
		more := []pulumi.StringArrayInput{a.SubnetIDs, a.BootstrapArgs}
		input := output.JoinLists(texts, more, func(v []string, lists [][]string) (string, error) {
			return runjobflow.ScheduledCluster(a.launched(), runjobflow.Environment{
				Key: a.Key, Name: a.Name, ServiceRole: v[0], InstanceProfile: v[1], AutoScalingRole: v[2], MasterSecurityGroup: v[3],
				CoreSecurityGroup: v[4], ServiceSecurityGroup: v[5], SecurityConfiguration: v[6], LogURI: v[7], LogKMSKey: v[8], Bucket: v[9],
				SubnetIDs: lists[0], SamplingRatio: a.SamplingRatio, Observe: observe.Settings{
					SecurityGroupID: v[10], Bootstrap: observe.Bootstrap{Path: v[11], Args: lists[1]},
				},
			}, schedule, steps)
		})
		return output.After(b.Ctx.Context(), input, dependencies...)
	}
	return l
}

// launched is the cluster with the stack's tags below its own, as the provider gives them to a cluster of its own.
func (a *Args) launched() schema.Cluster {
	c := a.Cluster
	c.Tags = maps.Clone(a.StackTags)
	if c.Tags == nil {
		c.Tags = map[string]string{}
	}
	maps.Copy(c.Tags, a.Tags)
	return c
}

// scheduledSteps returns the steps of all schedules, in the order of their keys.
func (a *Args) scheduledSteps() []schema.Step {
	var out []schema.Step
	for _, key := range slices.Sorted(maps.Keys(a.Scheduled)) {
		out = append(out, a.Scheduled[key].Steps...)
	}
	return out
}

// someArguments is as long as the bootstrap action's arguments.
const someArguments = 2 << 10

// checkLaunchSize requires that EventBridge takes the calls that start the cluster.
func (a *Args) checkLaunchSize(l *violation.List) {
	if !a.OfSchedules() {
		return
	}
	_, _, keyARN, roleARN := a.placeholders()
	const group, subnet = "sg-0123456789abcdef0", "subnet-0123456789abcdef0"
	for _, key := range slices.Sorted(maps.Keys(a.Scheduled)) {
		text, err := runjobflow.ScheduledCluster(a.launched(), runjobflow.Environment{
			Key: a.Key, Name: a.Name, ServiceRole: roleARN, InstanceProfile: roleARN, AutoScalingRole: roleARN, MasterSecurityGroup: group,
			CoreSecurityGroup: group, ServiceSecurityGroup: group, SecurityConfiguration: someRole, LogKMSKey: keyARN, Bucket: someBucket,
			LogURI: platform.ClusterLogs(a.Key).URI(someBucket), SamplingRatio: a.SamplingRatio,
			SubnetIDs: slices.Repeat([]string{subnet}, max(1, len(a.Subnets))),
			Observe: observe.Settings{SecurityGroupID: group, Bootstrap: observe.Bootstrap{
				Path: "s3://" + someBucket + "/", Args: []string{strings.Repeat("-", someArguments)},
			}},
		}, key, a.Scheduled[key].Steps)
		if err != nil {
			continue // only of values that JSON lacks, which no configuration holds
		}
		path := "schedules." + key + ".steps"
		if a.Scheduled[key].StepsFrom != "" {
			path += "From"
		}
		l.Require(len(text) <= schema.MaxScheduleInput, path, len(text), fmt.Sprintf(
			"must leave the call that starts %s at most %d bytes, all that EventBridge Scheduler keeps: the cluster and the steps are in it",
			schema.ClusterPath(a.Key), schema.MaxScheduleInput), "read long arguments from a file, or configure less of the cluster")
	}
}
