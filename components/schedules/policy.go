package schedules

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/platform"
)

// principal is EventBridge Scheduler in every partition.
const principal = "scheduler.amazonaws.com"

// EMR's calls as universal targets (Scheduler User Guide, "Using universal targets").
const (
	addSteps   = "aws-sdk:emr:addJobFlowSteps"
	runJobFlow = "aws-sdk:emr:runJobFlow"
)

func targetARN(ctx *pulumi.Context, parent pulumi.Resource, call string) pulumi.StringOutput {
	partition := aws.GetPartitionOutput(ctx, aws.GetPartitionOutputArgs{}, pulumi.Parent(parent)).Partition()
	return pulumi.Sprintf("arn:%s:scheduler:::%s", partition, call)
}

// trust lets EventBridge assume the role for the schedules of one group (Scheduler User Guide, "Preventing
// the confused deputy problem").
func trust(a iampolicy.Account, groupARN string) iampolicy.Document {
	return iampolicy.Trust("SchedulesOfThisGroup", principal, iampolicy.Condition{
		"StringEquals": {"aws:SourceAccount": {a.ID}, "aws:SourceArn": {groupARN}},
	})
}

// cleanupRole is EMR's service-linked role.
const cleanupRole = "AWSServiceRoleForEMRCleanup"

// granted is what the calls of the schedules are about.
type granted struct {
	queueARN   string
	clusterIDs []string // that get steps
	launched   []string // keys of the clusters that are started
	passed     []passed // roles that EMR gets with them
}

// passed is a role, and the service that assumes it.
type passed struct{ arn, service string }

// allow grants the calls of the schedules, for their clusters only. RunJobFlow knows no resource, but the tags of the
// cluster that it starts (Service Authorization Reference, "Actions defined by Amazon EMR").
func allow(a iampolicy.Account, region string, g granted) iampolicy.Document {
	var d iampolicy.Document
	add := func(sid, action string, resources []string, condition iampolicy.Condition) {
		if len(resources) > 0 {
			d = iampolicy.New(append(d.Statement, iampolicy.Statement{
				Sid: sid, Effect: iampolicy.Allow, Action: []string{action}, Resource: resources, Condition: condition,
			})...)
		}
	}
	var clusters []string
	for _, id := range g.clusterIDs {
		clusters = append(clusters, "arn:"+a.Partition+":elasticmapreduce:"+region+":"+a.ID+":cluster/"+id)
	}
	add("AddSteps", "elasticmapreduce:AddJobFlowSteps", clusters, nil)
	if len(g.launched) > 0 {
		tagged := "elasticmapreduce:RequestTag/" + platform.TagCluster
		add("StartClusters", "elasticmapreduce:RunJobFlow", []string{"*"},
			iampolicy.Condition{"StringEquals": {tagged: g.launched, "aws:RequestedRegion": {region}}})
		// RunJobFlow with tags asks for this, too, since April 2023.
		add("TagClusters", "elasticmapreduce:AddTags", []string{"arn:" + a.Partition + ":elasticmapreduce:" + region + ":" + a.ID + ":cluster/*"},
			iampolicy.Condition{"StringEquals": {tagged: g.launched}})
		// EMR creates its role with the rights of whoever starts the account's first cluster (EMR Management Guide, "Using
		// service-linked roles for cleanup").
		add("CreateCleanupRole", "iam:CreateServiceLinkedRole",
			[]string{"arn:" + a.Partition + ":iam::" + a.ID + ":role/aws-service-role/elasticmapreduce." + a.DNSSuffix + "/" + cleanupRole},
			iampolicy.Condition{"StringEquals": {"iam:AWSServiceName": {"elasticmapreduce." + a.DNSSuffix}}})
	}
	for i, p := range g.passed {
		add(fmt.Sprintf("PassRole%d", i), "iam:PassRole", []string{p.arn},
			iampolicy.Condition{"StringEquals": {"iam:PassedToService": {p.service + "." + a.DNSSuffix}}})
	}
	add("KeepLostRuns", "sqs:SendMessage", []string{g.queueARN}, nil)
	return d
}
