package catalog

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/cloudwatch"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/sns"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/sqs"
)

// awsWatch gives the resource types of logs, alarms and notifications.
func awsWatch() map[string]Type {
	return map[string]Type{
		"aws:cloudwatch/logGroup:LogGroup":                   typ(cloudwatch.LogGroupArgs{}, cloudwatch.LogGroupState{}),
		"aws:cloudwatch/logStream:LogStream":                 typ(cloudwatch.LogStreamArgs{}, cloudwatch.LogStreamState{}),
		"aws:cloudwatch/logMetricFilter:LogMetricFilter":     typ(cloudwatch.LogMetricFilterArgs{}, cloudwatch.LogMetricFilterState{}),
		"aws:cloudwatch/logResourcePolicy:LogResourcePolicy": typ(cloudwatch.LogResourcePolicyArgs{}, cloudwatch.LogResourcePolicyState{}, "policyDocument"),
		"aws:cloudwatch/metricAlarm:MetricAlarm":             typ(cloudwatch.MetricAlarmArgs{}, cloudwatch.MetricAlarmState{}),
		"aws:cloudwatch/compositeAlarm:CompositeAlarm":       typ(cloudwatch.CompositeAlarmArgs{}, cloudwatch.CompositeAlarmState{}),
		"aws:cloudwatch/dashboard:Dashboard":                 typ(cloudwatch.DashboardArgs{}, cloudwatch.DashboardState{}),
		"aws:cloudwatch/eventRule:EventRule":                 typ(cloudwatch.EventRuleArgs{}, cloudwatch.EventRuleState{}),
		"aws:cloudwatch/eventTarget:EventTarget":             typ(cloudwatch.EventTargetArgs{}, cloudwatch.EventTargetState{}),
		"aws:sns/topic:Topic":                                typ(sns.TopicArgs{}, sns.TopicState{}),
		"aws:sns/topicPolicy:TopicPolicy":                    typ(sns.TopicPolicyArgs{}, sns.TopicPolicyState{}, "policy"),
		"aws:sns/topicSubscription:TopicSubscription":        typ(sns.TopicSubscriptionArgs{}, sns.TopicSubscriptionState{}, "topic"),
		"aws:sqs/queue:Queue":                                typ(sqs.QueueArgs{}, sqs.QueueState{}),
		"aws:sqs/queuePolicy:QueuePolicy":                    typ(sqs.QueuePolicyArgs{}, sqs.QueuePolicyState{}, "policy"),
	}
}
