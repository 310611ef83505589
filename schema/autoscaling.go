package schema

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/decode"
)

// Words of EMR's scaling policies (EMR API, SimpleScalingPolicyConfiguration and
// CloudWatchAlarmDefinition).
const (
	AdjustExact   = "EXACT_CAPACITY"
	AdjustChange  = "CHANGE_IN_CAPACITY"
	AdjustPercent = "PERCENT_CHANGE_IN_CAPACITY"

	// metricPeriod: EMR sends its metrics every five minutes.
	metricPeriod = 300
	// secondsOfADay is how far back an alarm of such a period looks (CloudWatch API,
	// PutMetricAlarm, EvaluationPeriods).
	secondsOfADay = 24 * 60 * 60
	// hysteresis is how far the thresholds of scaling out and in must be apart, in
	// percent: otherwise the nodes that a rule adds make the other remove them.
	hysteresis = 20
	// maxScalingRules keeps policies readable.
	maxScalingRules = 20
)

// AutoScaling changes the number of a group's nodes by the metrics of the cluster.
type AutoScaling struct {
	Min   int           `json:"min" rule:"capacity"`
	Max   int           `json:"max" rule:"capacity"`
	Rules []ScalingRule `json:"rules" rule:"scalingRules"`
}

// Help describes the keys, for documents.
func (AutoScaling) Help() map[string]string {
	return map[string]string{
		"min":   "Fewest nodes. While rules scale the group, an edit of its count has no effect.",
		"max":   "Most nodes.",
		"rules": "When the group grows and shrinks.",
	}
}

// SetDefaults sets no rules.
func (a *AutoScaling) SetDefaults() { *a = AutoScaling{Min: 1, Max: 1, Rules: []ScalingRule{}} }

// ScalingRule adds or removes nodes while an alarm is on.
type ScalingRule struct {
	Name              string  `json:"name" rule:"scalingName"`
	Description       string  `json:"description" rule:"scalingDescription"`
	AdjustmentType    string  `json:"adjustmentType" rule:"adjustmentType"`
	Adjustment        int     `json:"adjustment" rule:"adjustment"`
	CoolDownSeconds   int     `json:"coolDownSeconds" rule:"coolDown"`
	Metric            string  `json:"metric" rule:"scalingMetric"`
	Comparison        string  `json:"comparison" rule:"comparison"`
	Threshold         float64 `json:"threshold" rule:"threshold"`
	PeriodSeconds     int     `json:"periodSeconds" rule:"period"`
	EvaluationPeriods int     `json:"evaluationPeriods" rule:"evaluationPeriods"`
	Statistic         string  `json:"statistic" rule:"statistic"`
}

// Help describes the keys, for documents.
func (ScalingRule) Help() map[string]string {
	return map[string]string{
		"name":              "Name, each only once in the group.",
		"description":       "What the rule is for.",
		"adjustmentType":    "What adjustment counts: nodes more or fewer, percent of the nodes, or the number of nodes to have.",
		"adjustment":        "Nodes or percent; below 0 to shrink.",
		"coolDownSeconds":   "How long the rule rests after it has changed something.",
		"metric":            "Metric of the cluster in CloudWatch.",
		"comparison":        "How the metric must compare with the threshold.",
		"threshold":         "Value that the metric is compared with.",
		"periodSeconds":     "Interval of the metric.",
		"evaluationPeriods": "Intervals in a row before the rule acts.",
		"statistic":         "How values of one interval are joined.",
	}
}

// SetDefaults sets what EMR assumes of a rule that leaves it out, except the pause after it
// acted: EMR has none, and would act again before its metrics show the first effect.
func (r *ScalingRule) SetDefaults() {
	*r = ScalingRule{AdjustmentType: AdjustChange, CoolDownSeconds: metricPeriod, PeriodSeconds: metricPeriod, EvaluationPeriods: 1,
		Statistic: "AVERAGE"}
}

// Refused says of keys that EMR's rules have why this one has not.
func (ScalingRule) Refused() map[string]decode.Refusal {
	return map[string]decode.Refusal{
		"dimensions": {Rule: "is no key: EMR's metrics have one dimension, the cluster itself, which EMR adds", Remedy: "remove it"},
		"namespace":  {Rule: "is no key: only the metrics of EMR name a cluster", Remedy: "remove it"},
		"unit":       {Rule: "is no key: it follows from the metric", Remedy: "remove it"},
		"market":     {Rule: "is no key: a group keeps its own market", Remedy: "declare a task group with a bidPrice"},
	}
}

// metricKind says what a high value of a metric means, and its unit.
type metricKind struct {
	idle, busy bool
	unit       string
	most       float64 // its largest value; 0 if it has none
}

// scalingMetrics returns the metrics that EMR sends to CloudWatch (EMR Management Guide,
// "Monitoring Amazon EMR metrics with CloudWatch").
func scalingMetrics() map[string]metricKind {
	const count, percent, bytes, whole = "COUNT", "PERCENT", "BYTES", 100
	out := map[string]metricKind{
		"YARNMemoryAvailablePercentage": {idle: true, unit: percent, most: whole}, "MemoryAvailableMB": {idle: true, unit: count},
		"CapacityRemainingGB": {idle: true, unit: count}, "IsIdle": {idle: true, unit: "NONE", most: 1},
		"HDFSUtilization": {busy: true, unit: percent, most: whole}, "LiveDataNodes": {unit: percent, most: whole},
		"S3BytesRead": {unit: bytes}, "S3BytesWritten": {unit: bytes}, "HDFSBytesRead": {unit: bytes}, "HDFSBytesWritten": {unit: bytes},
	}
	for _, name := range []string{"ContainerPendingRatio", "ContainerPending", "ContainerAllocated", "ContainerReserved",
		"AppsPending", "AppsRunning",
		"AppsSubmitted", "MemoryAllocatedMB", "MemoryReservedMB", "TotalLoad"} {
		out[name] = metricKind{busy: true, unit: count}
	}
	for _, name := range []string{"AppsCompleted", "AppsFailed", "AppsKilled", "MemoryTotalMB", "CoreNodesRunning",
		"CoreNodesPending", "MRTotalNodes",
		"MRActiveNodes", "MRLostNodes", "MRUnhealthyNodes", "MRDecommissionedNodes", "MRRebootedNodes", "MissingBlocks", "CorruptBlocks",
		"PendingDeletionBlocks", "UnderReplicatedBlocks", "DfsPendingReplicationBlocks"} {
		out[name] = metricKind{unit: count}
	}
	return out
}

// Unit returns the unit of the rule's metric in CloudWatch.
func (r ScalingRule) Unit() string { return scalingMetrics()[r.Metric].unit }

func autoScalingRules() map[string]Rule {
	metrics := slices.Sorted(maps.Keys(scalingMetrics()))
	metric := oneOf(metrics...)
	metric.Text = "must be a metric that EMR sends to CloudWatch"
	return map[string]Rule{
		"capacity": textOnly("must be 0 or more, 1 or more for core, and min at most max"),
		"scalingRules": textOnly(fmt.Sprintf("must be 1 to %d, with one that shrinks the group for each that lets it grow", maxScalingRules)).
			with("", "add the missing rule"),
		"scalingName":        predicate(isEMRName, "1 to 256 characters without < > $ | ` and line breaks"),
		"scalingDescription": pattern("^[^<>$|`\r\n\t]{0,256}$", "at most 256 characters without < > $ | ` and line breaks"),
		"adjustmentType":     oneOf(AdjustChange, AdjustPercent, AdjustExact),
		"adjustment":         textOnly("must be other than 0, and above 0 with " + AdjustExact),
		"coolDown":           intRange(0, math.MaxInt32),
		"scalingMetric":      metric.with("", "known: "+strings.Join(metrics, ", ")),
		"comparison":         oneOf("GREATER_THAN_OR_EQUAL", "GREATER_THAN", "LESS_THAN", "LESS_THAN_OR_EQUAL"),
		"threshold": textOnly(fmt.Sprintf("must be 0 or more, and lie among the values of the metric; no value may both grow and "+
			"shrink the group, and in percent the thresholds must be at least %d apart", hysteresis)),
		"period":            intRange(metricPeriod, metricPeriod).with(": EMR sends its metrics every five minutes", "leave it out"),
		"evaluationPeriods": intRange(1, secondsOfADay/metricPeriod).with(": CloudWatch looks back over a day at most", ""),
		"statistic":         oneOf("AVERAGE", "MINIMUM", "MAXIMUM", "SUM", "SAMPLE_COUNT"),
	}
}
