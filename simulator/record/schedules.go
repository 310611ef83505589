package record

import "time"

// scheduleFillers covers EventBridge Scheduler and the queues of SQS.
func scheduleFillers() map[string]filler {
	return map[string]filler{
		"aws:scheduler/schedule:Schedule": func(d *draft) error {
			d.setDefaults(result{"groupName": "default", "state": "ENABLED", "scheduleExpressionTimezone": "UTC"})
			d.setEmpty("namePrefix")
			d.setID(d.text("groupName") + "/" + d.text("name"))
			d.setDefault("arn", d.regionalARN("scheduler", "schedule/"+d.id))
			return nil
		},
		"aws:scheduler/scheduleGroup:ScheduleGroup": func(d *draft) error {
			d.setID(d.text("name"))
			now := time.Now().UTC().Format(time.RFC3339)
			d.setDefaults(result{
				"arn": d.regionalARN("scheduler", "schedule-group/"+d.id), "state": "ACTIVE", "creationDate": now, "lastModificationDate": now,
			})
			d.setEmpty("namePrefix")
			return nil
		},
		"aws:sqs/queue:Queue": func(d *draft) error {
			name := d.text("name")
			d.setID("https://sqs." + d.account.Region() + ".amazonaws.com/" + d.account.ID + "/" + name)
			d.setDefaults(result{
				"arn": d.regionalARN("sqs", name), "url": d.id, "contentBasedDeduplication": false, "delaySeconds": 0, "fifoQueue": false,
				"kmsDataKeyReusePeriodSeconds": 300, "maxMessageSize": 262144, "messageRetentionSeconds": 345600, "receiveWaitTimeSeconds": 0,
				"visibilityTimeoutSeconds": 30, "sqsManagedSseEnabled": true,
			})
			d.setEmpty("deduplicationScope", "fifoThroughputLimit", "kmsMasterKeyId", "namePrefix", "policy", "redriveAllowPolicy", "redrivePolicy")
			return nil
		},
	}
}
