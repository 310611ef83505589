package rules

import (
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/schedule"
)

const (
	scheduleType = "aws:scheduler/schedule:Schedule"
	schedulerAPI = "Scheduler API, CreateSchedule"
	queueType    = "aws:sqs/queue:Queue"
	queueAPI     = "SQS API, CreateQueue"
)

// schedulerRules cover EventBridge Scheduler.
func schedulerRules() []Rule {
	const names = `^[0-9a-zA-Z-_.]{1,64}$`
	return []Rule{
		{Type: scheduleType, Path: "name", Rule: "must be 1 to 64 characters of a-z, A-Z, 0-9 and -_.", Source: schedulerAPI,
			Holds: matches(names), Pass: "nightly", Fail: "every night"},
		{Type: scheduleType, Path: "groupName", Rule: "must be 1 to 64 characters of a-z, A-Z, 0-9 and -_.", Source: schedulerAPI,
			Holds: matches(names), Pass: "reports", Fail: strings.Repeat("g", 65)},
		{Type: "aws:scheduler/scheduleGroup:ScheduleGroup", Path: "name", Rule: "must be 1 to 64 characters of a-z, A-Z, 0-9 and -_.",
			Source: "Scheduler API, CreateScheduleGroup", Holds: matches(names), Pass: "reports", Fail: "all reports"},
		{Type: scheduleType, Path: "scheduleExpression", Rule: "must be a cron or rate expression", Source: schedulerAPI,
			Holds: onString(func(s string) bool { _, err := schedule.Parse(s); return err == nil }), Pass: "cron(0 2 * * ? *)", Fail: "0 2 * * *"},
		{Type: scheduleType, Path: "scheduleExpressionTimezone", Rule: "must be the name of a time zone", Source: schedulerAPI,
			Holds: onString(func(s string) bool { _, err := time.LoadLocation(s); return err == nil }), Pass: "Europe/Berlin", Fail: "CET+1"},
		{Type: scheduleType, Path: "startDate", Rule: "The StartDate you specify cannot be earlier than 5 minutes ago", Source: schedulerAPI,
			Holds: onString(isFutureDate), Pass: "2199-01-01T00:00:00Z", Fail: "2020-01-01T00:00:00Z"},
		{Type: scheduleType, Path: "endDate", Rule: "must be a time to come", Source: schedulerAPI,
			Holds: onString(isFutureDate), Pass: "2199-01-01T00:00:00Z", Fail: "2020-01-01T00:00:00Z"},
		enum(scheduleType, "state", schedulerAPI, "ENABLED", "ON", "ENABLED", "DISABLED"),
		enum(scheduleType, "flexibleTimeWindow.mode", schedulerAPI, "OFF", "NONE", "OFF", "FLEXIBLE"),
		limits(scheduleType, "target.retryPolicy.maximumRetryAttempts", "Scheduler API, RetryPolicy", "", 0, 185, 10, 186),
		limits(scheduleType, "target.retryPolicy.maximumEventAgeInSeconds", "Scheduler API, RetryPolicy", "seconds", 60, 86400, 3600, 30),
		{Type: scheduleType, Path: "target.arn", Rule: "must be the ARN of a target", Source: "Scheduler API, Target",
			Holds: matches(`^arn:aws[a-z-]*:[a-z-]+:[a-z0-9-]*:(\d{12})?:\S+$`), Pass: "arn:aws:scheduler:::aws-sdk:emr:addJobFlowSteps",
			Fail: "addJobFlowSteps"},
		{Type: scheduleType, Path: "target.input", Rule: "must be at most 256 KiB", Source: "Scheduler User Guide, Quotas",
			Holds: maxLength(256 << 10), Pass: "{}", Fail: strings.Repeat("x", 256<<10+1)},
		{Type: queueType, Path: "name", Rule: "must be 1 to 80 characters of a-z, A-Z, 0-9, - and _", Source: queueAPI,
			Holds: matches(`^[0-9a-zA-Z_-]{1,80}(\.fifo)?$`), Pass: "lost-runs", Fail: "lost runs"},
		limits(queueType, "messageRetentionSeconds", queueAPI, "seconds", 60, 1209600, 345600, 1209601),
	}
}

// isFutureDate allows the five minutes that EventBridge does.
func isFutureDate(s string) bool {
	t, err := time.Parse(time.RFC3339, s)
	return err == nil && time.Since(t) < 5*time.Minute
}
