package schedules

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
)

// principal is EventBridge Scheduler in every partition.
const principal = "scheduler.amazonaws.com"

// addSteps is EMR's AddJobFlowSteps as a universal target (Scheduler User Guide, "Using universal targets").
const addSteps = "aws-sdk:emr:addJobFlowSteps"

func targetARN(ctx *pulumi.Context, parent pulumi.Resource) pulumi.StringOutput {
	partition := aws.GetPartitionOutput(ctx, aws.GetPartitionOutputArgs{}, pulumi.Parent(parent)).Partition()
	return pulumi.Sprintf("arn:%s:scheduler:::%s", partition, addSteps)
}

// trust lets EventBridge assume the role for the schedules of one group (Scheduler User Guide, "Preventing
// the confused deputy problem").
func trust(a iampolicy.Account, groupARN string) iampolicy.Document {
	return iampolicy.Trust("SchedulesOfThisGroup", principal, iampolicy.Condition{
		"StringEquals": {"aws:SourceAccount": {a.ID}, "aws:SourceArn": {groupARN}},
	})
}

// allow grants the calls of the schedules, for their clusters only.
func allow(a iampolicy.Account, region, queueARN string, clusterIDs []string) iampolicy.Document {
	var clusters []string
	for _, id := range clusterIDs {
		clusters = append(clusters, "arn:"+a.Partition+":elasticmapreduce:"+region+":"+a.ID+":cluster/"+id)
	}
	return iampolicy.New(
		iampolicy.Statement{Sid: "AddSteps", Effect: iampolicy.Allow, Action: []string{"elasticmapreduce:AddJobFlowSteps"}, Resource: clusters},
		iampolicy.Statement{Sid: "KeepLostRuns", Effect: iampolicy.Allow, Action: []string{"sqs:SendMessage"}, Resource: []string{queueARN}},
	)
}
