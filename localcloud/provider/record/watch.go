package record

func watchFillers() map[string]filler {
	return map[string]filler{
		"aws:cloudwatch/logGroup:LogGroup": func(d *draft) error {
			d.otherwise("logGroupClass", "STANDARD")
			d.otherwise("namePrefix", "")
			return withARN("logs", "log-group:")(d)
		},
		"aws:cloudwatch/logStream:LogStream": func(d *draft) error {
			d.identify(d.text("name"))
			d.otherwise("arn", d.arn("logs", "log-group:"+d.text("logGroupName")+":log-stream:"+d.id))
			return nil
		},
		"aws:cloudwatch/logMetricFilter:LogMetricFilter":     plainID("name"),
		"aws:cloudwatch/logResourcePolicy:LogResourcePolicy": plainID("policyName"),
		"aws:cloudwatch/metricAlarm:MetricAlarm":             withARN("cloudwatch", "alarm:"),
		"aws:cloudwatch/compositeAlarm:CompositeAlarm": func(d *draft) error {
			d.identify(d.text("alarmName"))
			d.otherwise("arn", d.arn("cloudwatch", "alarm:"+d.id))
			return nil
		},
		"aws:cloudwatch/dashboard:Dashboard": func(d *draft) error {
			d.identify(d.text("dashboardName"))
			d.otherwise("dashboardArn", d.global("cloudwatch", "dashboard/"+d.id))
			return nil
		},
		"aws:cloudwatch/eventRule:EventRule":     withARN("events", "rule/"),
		"aws:cloudwatch/eventTarget:EventTarget": plainID("rule", "targetId"),
		"aws:sns/topic:Topic": func(d *draft) error {
			d.otherwise("arn", d.arn("sns", d.text("name")))
			d.otherwise("owner", d.account.ID)
			d.otherwise("beginningArchiveTime", "")
			d.identify(d.text("arn"))
			return nil
		},
		"aws:sns/topicPolicy:TopicPolicy": func(d *draft) error {
			d.otherwise("owner", d.account.ID)
			d.identify(d.text("arn"))
			return nil
		},
		"aws:sns/topicSubscription:TopicSubscription": func(d *draft) error {
			d.otherwise("arn", d.text("topic")+":"+uuid())
			d.otherwise("ownerId", d.account.ID)
			d.identify(d.text("arn"))
			return nil
		},
		"aws:sqs/queue:Queue": func(d *draft) error {
			d.otherwise("arn", d.arn("sqs", d.text("name")))
			d.otherwise("url", "https://sqs."+d.account.Region()+".amazonaws.com/"+d.account.ID+"/"+d.text("name"))
			d.identify(d.text("url"))
			return nil
		},
		"aws:sqs/queuePolicy:QueuePolicy": plainID("queueUrl"),
	}
}
