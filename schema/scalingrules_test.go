package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
)

// No value grows and shrinks a group. Outside percent, thresholds may touch.
func TestScalingRulesOfOneMetricNeverAgree(t *testing.T) {
	type side struct {
		comparison string
		threshold  float64
	}
	for name, c := range map[string]struct {
		metric  string
		out, in side
		refused bool
	}{
		"busy, apart":                 {"ContainerPending", side{"GREATER_THAN", 10}, side{"LESS_THAN", 5}, false},
		"busy, overlapping":           {"ContainerPending", side{"GREATER_THAN", 5}, side{"LESS_THAN", 10}, true},
		"busy, touching":              {"ContainerPending", side{"GREATER_THAN", 5}, side{"LESS_THAN_OR_EQUAL", 5}, false},
		"busy, sharing the threshold": {"ContainerPending", side{"GREATER_THAN_OR_EQUAL", 5}, side{"LESS_THAN_OR_EQUAL", 5}, true},
		"idle, apart":                 {"MemoryAvailableMB", side{"LESS_THAN", 1000}, side{"GREATER_THAN", 9000}, false},
		"idle, overlapping":           {"MemoryAvailableMB", side{"LESS_THAN", 9000}, side{"GREATER_THAN", 1000}, true},
		"neither, apart":              {"S3BytesRead", side{"LESS_THAN", 10}, side{"GREATER_THAN", 90}, false},
		"neither, the other way":      {"S3BytesRead", side{"GREATER_THAN", 90}, side{"LESS_THAN", 10}, false},
		"neither, overlapping":        {"S3BytesRead", side{"GREATER_THAN", 10}, side{"LESS_THAN", 90}, true},
		"neither, same comparison":    {"S3BytesRead", side{"GREATER_THAN", 90}, side{"GREATER_THAN", 10}, true},
		"percent, overlapping":        {"LiveDataNodes", side{"GREATER_THAN", 20}, side{"LESS_THAN", 75}, true},
		"percent, too close":          {"LiveDataNodes", side{"GREATER_THAN", 75}, side{"LESS_THAN", 70}, true},
	} {
		rule := func(name string, s side, adjustment int) (r schema.ScalingRule) {
			r.SetDefaults()
			r.Name, r.Metric, r.Comparison, r.Threshold, r.Adjustment = name, c.metric, s.comparison, s.threshold, adjustment
			return r
		}
		cfg := validConfig()
		var cluster schema.Cluster
		cluster.SetDefaults()
		cluster.Core.AutoScaling = &schema.AutoScaling{Min: 1, Max: 4, Rules: []schema.ScalingRule{rule("out", c.out, 1), rule("in", c.in, -1)}}
		cfg.Clusters["etl"] = cluster
		if err := cfg.Validate(); c.refused {
			require.ErrorContains(t, err, "clusters.etl.core.autoScaling.rules[0].threshold", name)
		} else {
			require.NoError(t, err, name)
		}
	}
}
