package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// What Spark 3.5.5's own converters take and refuse.
func TestValuesThatSparkReads(t *testing.T) {
	for name, values := range map[string]struct{ taken, refused []string }{
		"spark.dynamicAllocation.enabled":             {[]string{"true", "FALSE", " true "}, []string{"yes", "1", "on", ""}},
		"spark.executor.cores":                        {[]string{"4", "+4", " 4 ", "0"}, []string{"four", "4.0", "", "2147483648"}},
		"spark.executor.memory":                       {[]string{"4g", "4096", "512MB", "1t", "-1g"}, []string{"4 g", "1.5g", "4gig", ""}},
		"spark.sql.autoBroadcastJoinThreshold":        {[]string{"-1", "10mb"}, []string{"10 MB", "10.5m"}},
		"spark.memory.offHeap.size":                   {[]string{"0", "1g"}, []string{"-1", "lots"}},
		"spark.locality.wait":                         {[]string{"3s", "0", "-1", "5min", "250US"}, []string{"3 seconds", "3sec", "0.5s"}},
		"spark.sql.shuffle.partitions":                {[]string{"200", "${spark.x}"}, []string{"0", "-1", "many"}},
		"spark.memory.storageFraction":                {[]string{"0", "0.5", "5e-1", ".5", "0.5d"}, []string{"1", "-0.1", "NaN", "half", "0,5"}},
		"spark.executor.memoryOverheadFactor":         {[]string{"0.2", "2"}, []string{"0", "10%"}},
		"spark.sql.sources.partitionOverwriteMode":    {[]string{"dynamic", "STATIC"}, []string{"dyn"}},
		"spark.io.encryption.keySizeBits":             {[]string{"128", "192"}, []string{"160", "big"}},
		"spark.sql.statistics.histogram.numBins":      {[]string{"2"}, []string{"1"}},
		"spark.eventLog.rolling.maxFileSize":          {[]string{"10m"}, []string{"1m"}},
		"spark.dynamicAllocation.executorIdleTimeout": {[]string{"0", "99999999999d"}, []string{"-1s"}},
		"spark.redaction.regex":                       {[]string{"any"}, nil},
		"spark.orders.table":                          {[]string{"any"}, nil},
	} {
		for value, want := range map[bool][]string{true: values.taken, false: values.refused} {
			for _, v := range want {
				var l violation.List
				schema.CheckSparkValues(&l, schema.Settings(map[string]map[string]string{"spark-defaults": {name: v}}))
				require.Equal(t, value, l.Err() == nil, "%s=%s: %v", name, v, l.Err())
			}
		}
	}
}

func TestRefusalsSayWhatSparkReads(t *testing.T) {
	for _, c := range []struct{ name, value, rule, remedy string }{
		{"spark.speculation", "si", "true or false", "write true or false"},
		{"spark.executor.cores", "four", "a whole number", "write it as digits"},
		{"spark.eventLog.rolling.maxFileSize", "1m", "a size such as 4g or 512m, at least 10485760b", "write a whole number and k, m, g or t"},
		{"spark.locality.wait", "3sec", "a duration such as 30s or 5m", "write a whole number and ms, s, m, h or d"},
		{"spark.memory.storageFraction", "1", "a number such as 0.5, at least 0.0, below 1.0", "write it as a decimal"},
		{"spark.sql.sources.partitionOverwriteMode", "x", "DYNAMIC or STATIC", "write one of them"},
	} {
		var l violation.List
		properties := map[string]string{c.name: c.value}
		schema.CheckSparkValues(&l, schema.Settings(map[string]map[string]string{"spark-defaults": properties, "hive-site": properties}))
		require.Equal(t, []string{"spark-defaults." + c.name + `: "` + c.value + `" must be ` + c.rule + ": Spark cannot read anything else; " +
			c.remedy}, texts(violation.All(l.Err())))
	}
}
