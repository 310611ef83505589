package rules

func watchRules() []Rule {
	alarm := "aws:cloudwatch/metricAlarm:MetricAlarm"
	return []Rule{
		{Type: "aws:cloudwatch/logGroup:LogGroup", Path: "retentionInDays", Rule: "must be 0 (for ever), 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288 or 3653", Source: "CloudWatch Logs API, PutRetentionPolicy", Holds: numberIn(0, 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653), Pass: 30.0, Fail: 31.0},
		{Type: "aws:cloudwatch/logGroup:LogGroup", Path: "name", Rule: "must be 1 to 512 characters of a-z, A-Z, 0-9 and _-/.#", Source: "CloudWatch Logs API, CreateLogGroup", Holds: matches(`^[.\-_/#A-Za-z0-9]{1,512}$`), Pass: "/observatory/flow", Fail: "a b"},
		{Type: alarm, Path: "comparisonOperator", Rule: "must be a comparison of CloudWatch, e.g. GreaterThanThreshold", Source: "CloudWatch API, PutMetricAlarm", Holds: oneOf("GreaterThanOrEqualToThreshold", "GreaterThanThreshold", "LessThanThreshold", "LessThanOrEqualToThreshold", "LessThanLowerOrGreaterThanUpperThreshold", "LessThanLowerThreshold", "GreaterThanUpperThreshold"), Pass: "GreaterThanThreshold", Fail: "GREATER_THAN"},
		{Type: alarm, Path: "evaluationPeriods", Rule: "must be at least 1", Source: "CloudWatch API, PutMetricAlarm", Holds: between(1, 1e9), Pass: 1.0, Fail: 0.0},
		{Type: alarm, Path: "treatMissingData", Rule: "must be missing, ignore, breaching or notBreaching", Source: "CloudWatch API, PutMetricAlarm", Holds: oneOf("missing", "ignore", "breaching", "notBreaching"), Pass: "missing", Fail: "ok"},
	}
}
