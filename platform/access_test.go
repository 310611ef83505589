package platform_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

func TestServicesHeader(t *testing.T) {
	urls := map[string]string{"tempo": "http://127.0.0.1:3200", "spark history": "https://[::1]:18080/a?b=c&d"}
	require.Equal(t, urls, platform.DecodeServices(platform.EncodeServices(urls)))
	require.Equal(t, map[string]string{"good": "https://h"}, platform.DecodeServices(platform.EncodeServices(map[string]string{
		"good": "https://h/", "script": "javascript:alert(1)", "path": "/d/x", "file": "file://h/etc", "empty": "",
	})), "only http(s) URLs become links")
	require.Empty(t, platform.DecodeServices(""))
	require.Empty(t, platform.DecodeServices("%zz"))
}

func TestAbsentHeader(t *testing.T) {
	require.Equal(t, map[platform.Workload]string{"grafana": "no registry has it; a=b & c", "yace": "no CloudWatch"},
		platform.DecodeAbsent(platform.EncodeAbsent(map[string]string{"grafana": "no registry has it; a=b & c", "yace": "no CloudWatch"})))
	require.Empty(t, platform.DecodeAbsent(""))
	require.Empty(t, platform.DecodeAbsent("%zz"))
}

func TestConsoleOfEachPartition(t *testing.T) {
	for region, want := range map[string]string{
		"us-east-1": "https://console.aws.amazon.com", "cn-north-1": "https://console.amazonaws.cn",
		"us-gov-west-1": "https://console.amazonaws-us-gov.com",
	} {
		require.Equal(t, want, platform.ConsoleURL(region))
	}
}

func TestTraceparentOfAStep(t *testing.T) {
	args := []string{"spark-submit", "--conf", platform.SparkTraceparent + "=00-a-b-01", "job.py"}
	require.Equal(t, "00-a-b-01", platform.TraceparentOf(args))
	require.Equal(t, "00-a-b-01", platform.TraceparentOf([]string{"spark-submit", "--conf=" + platform.SparkTraceparent + "=00-a-b-01"}))
	require.Equal(t, "b7ad", platform.StepParentOf([]string{"spark-submit", "--conf", platform.SparkStepParent + "=b7ad"}))
	require.Empty(t, platform.TraceparentOf([]string{"spark-submit", "--conf", "spark.x=" + platform.SparkTraceparent, "job.py"}))
}
