package schema

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// checkAutoScaling checks the scaling of the groups: EMR scales core and task groups.
func (c Cluster) checkAutoScaling(l *violation.List, path string) {
	l.Require(c.Master.AutoScaling == nil, path+".master.autoScaling", "set", "must not be set: EMR scales core and task groups", "remove it")
	for _, g := range c.GroupsAt(path) {
		if g.AutoScaling != nil && g.Role != platform.RoleMaster {
			g.AutoScaling.check(l, g)
		}
	}
}

func (a AutoScaling) check(l *violation.List, g Group) {
	at, rule := g.Path+".autoScaling", rules["capacity"].Text
	least := 0
	if g.Role == platform.RoleCore {
		least = 1
	}
	l.Require(a.Min >= least, at+".min", a.Min, rule, "")
	l.Require(a.Max >= a.Min, at+".max", a.Max, rule, "increase it, or decrease min")
	l.Require(a.Max <= maxUnits, at+".max", a.Max, atMostUnits, "decrease it")
	l.Require(inRange(g.Count, a.Min, a.Max) || a.Max < a.Min, g.Path+".count", g.Count, "must be between min and max of its autoScaling", "")
	l.Require(inRange(len(a.Rules), 1, maxScalingRules), at+".rules", len(a.Rules), rules["scalingRules"].Text, rules["scalingRules"].Remedy)
	names := map[string]bool{}
	for i, r := range a.Rules {
		path := pathOf(at+".rules", i)
		checkFields(l, path, r)
		l.Require(!names[r.Name], path+".name", r.Name, "must differ from the names of the other rules", "rename it")
		names[r.Name] = true
		r.check(l, path, a.direction(r))
		l.Require(r.AdjustmentType != AdjustExact || !r.changes() || a.Max < a.Min || inRange(r.Adjustment, a.Min, a.Max), path+".adjustment",
			r.Adjustment, "must be between min and max of its autoScaling with "+AdjustExact+": EMR goes no further", "")
	}
	a.checkPairs(l, at+".rules")
}

// direction says what a rule does to the group: it lets it grow (1), shrinks it (-1), or
// does either (0), by the number of nodes that it finds. Where all rules set the number,
// the one with the most nodes lets the group grow, and the one with the fewest shrinks it.
func (a AutoScaling) direction(r ScalingRule) int {
	if r.AdjustmentType != AdjustExact {
		return cmp.Compare(r.Adjustment, 0)
	}
	least, most := r.Adjustment, r.Adjustment
	for _, other := range a.Rules {
		if other.AdjustmentType != AdjustExact {
			least, most = r.Adjustment, r.Adjustment
			break
		}
		least, most = min(least, other.Adjustment), max(most, other.Adjustment)
	}
	switch {
	case r.Adjustment >= a.Max || least < most && r.Adjustment == most:
		return 1
	case r.Adjustment <= a.Min || least < most && r.Adjustment == least:
		return -1
	default:
		return 0
	}
}

// changes reports whether EMR takes the adjustment.
func (r ScalingRule) changes() bool {
	return r.Adjustment > 0 || r.Adjustment < 0 && r.AdjustmentType != AdjustExact
}

// check checks one rule by itself.
func (r ScalingRule) check(l *violation.List, path string, direction int) {
	l.Require(r.changes(), path+".adjustment", r.Adjustment, rules["adjustment"].Text, "")
	l.Require(inRange(r.Adjustment, -maxUnits, maxUnits), path+".adjustment", r.Adjustment, atMostUnits+", or as much below 0", "decrease it")
	l.Require(r.Threshold >= 0, path+".threshold", r.Threshold, rules["threshold"].Text, "")
	r.checkReach(l, path)
	kind := scalingMetrics()[r.Metric]
	if !r.changes() || direction == 0 || !kind.idle && !kind.busy || !rules["comparison"].Holds(r.Comparison) {
		return
	}
	wanted := "GREATER_THAN"
	if (direction > 0) == kind.idle {
		wanted = "LESS_THAN"
	}
	meaning := map[bool]string{true: "idle", false: "busy"}[kind.idle]
	l.Require(strings.HasPrefix(r.Comparison, wanted), path+".comparison", r.Comparison,
		"must be "+wanted+" or "+wanted+"_OR_EQUAL: a high "+r.Metric+" means that the cluster is "+meaning, "turn the comparison round")
}

// checkReach requires that a rule acts at some values of its metric and not at all of them:
// no metric is below 0, and some have a largest value (EMR Management Guide, "Monitoring
// Amazon EMR metrics with CloudWatch"). A number of samples is no value of the metric.
func (r ScalingRule) checkReach(l *violation.List, path string) {
	kind, known := scalingMetrics()[r.Metric]
	if !known || r.Threshold < 0 || r.Statistic == "SAMPLE_COUNT" || !rules["comparison"].Holds(r.Comparison) {
		return
	}
	most, span := kind.most, fmt.Sprintf("0 to %g", kind.most)
	switch most {
	case 0:
		most, span = math.Inf(1), "0 or more"
	case 1:
		span = "0 or 1"
	}
	acts := func(value float64) bool {
		if value == r.Threshold {
			return r.actsAtThreshold()
		}
		return (value > r.Threshold) == r.actsAbove()
	}
	rule := ""
	switch low, high := acts(0), acts(most); {
	case low && high:
		rule = "must not let the rule act at every value"
	case !low && !high:
		rule = "must let the rule act at some value"
	}
	l.Require(rule == "", path+".threshold", r.Threshold, rule+" of "+r.Metric+", which is "+span,
		"choose a threshold inside, or another comparison")
}

// band is the width of the values at which neither this rule, which grows the group, nor
// the other, which shrinks it on the same metric, acts. It is below 0 if both act at some
// values.
func (r ScalingRule) band(shrinks ScalingRule) float64 {
	kind, above := scalingMetrics()[r.Metric], r.actsAbove()
	switch {
	case kind.idle:
		return shrinks.Threshold - r.Threshold
	case kind.busy:
		return r.Threshold - shrinks.Threshold
	case above == shrinks.actsAbove():
		return math.Inf(-1) // both act at every value beyond the farther threshold
	case above:
		return r.Threshold - shrinks.Threshold
	}
	return shrinks.Threshold - r.Threshold
}

// actsAbove reports whether the rule acts at values above its threshold.
func (r ScalingRule) actsAbove() bool { return strings.HasPrefix(r.Comparison, "GREATER_THAN") }

// actsAtThreshold reports whether the threshold itself is among the values.
func (r ScalingRule) actsAtThreshold() bool { return strings.HasSuffix(r.Comparison, "_OR_EQUAL") }

// checkApart requires that no value makes both this rule grow the group and the other
// shrink it. Thresholds in percent must be further apart; what distance suits other units
// depends on the workload. Statistics make no difference: EMR sends a metric once per
// period.
func (r ScalingRule) checkApart(l *violation.List, path string, shrinks ScalingRule) {
	if known := rules["comparison"].Holds; !known(r.Comparison) || !known(shrinks.Comparison) {
		return
	}
	band := r.band(shrinks)
	apart := band > 0 || band == 0 && (!r.actsAtThreshold() || !shrinks.actsAtThreshold())
	if r.Unit() == "PERCENT" {
		apart = band >= hysteresis
	}
	remedy := "move it away from that of " + shrinks.Name
	if math.IsInf(band, -1) {
		remedy = "turn the comparison round, or that of " + shrinks.Name
	}
	l.Require(apart, path+".threshold", r.Threshold, rules["threshold"].Text, remedy)
}

// checkPairs requires that what grows on a metric shrinks on some metric too, and that
// thresholds of one metric are far enough apart.
func (a AutoScaling) checkPairs(l *violation.List, path string) {
	out, in, either := 0, 0, 0
	for i, r := range a.Rules {
		switch direction := a.direction(r); {
		case !r.changes(): // refused already
			continue
		case direction < 0:
			in++
			continue
		case direction == 0:
			either++
			continue
		}
		out++
		for _, other := range a.Rules {
			if other.Metric == r.Metric && other.changes() && a.direction(other) < 0 {
				r.checkApart(l, pathOf(path, i), other)
			}
		}
	}
	if len(a.Rules) > 0 && inRange(len(a.Rules), 1, maxScalingRules) {
		l.Require(in+either >= out, path, len(a.Rules), "must shrink the group in as many rules as let it grow: otherwise it only ever grows",
			"add the missing rule")
		l.Require(out+either > 0 || in == 0, path, len(a.Rules), "must let the group grow: otherwise it only ever shrinks",
			"add the missing rule")
		l.Require(out+in > 0 || either == 0, path, len(a.Rules), "must set more than one number of nodes: otherwise the group stays at it",
			"add the missing rule")
	}
}
