package source_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/source"
)

func TestClusterARNs(t *testing.T) {
	for text, want := range map[string]source.ClusterARN{
		"arn:aws:elasticmapreduce:us-east-1:123456789012:cluster/j-2AXXXXXXGAPLF": {"123456789012", "us-east-1", "j-2AXXXXXXGAPLF"},
		"arn:aws-cn:elasticmapreduce:cn-north-1:123456789012:cluster/j-1":         {"123456789012", "cn-north-1", "j-1"},
		"arn:aws-us-gov:elasticmapreduce:us-gov-west-1:123456789012:cluster/j-1":  {"123456789012", "us-gov-west-1", "j-1"},
		"arn:aws-iso-b:elasticmapreduce:us-isob-east-1:123456789012:cluster/j-1":  {"123456789012", "us-isob-east-1", "j-1"},
	} {
		got, err := source.ParseClusterARN(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{
		"", "j-1", "arn:aws:s3:::bucket", "arn:aws:elasticmapreduce:us-east-1:123456789012:studio/es-1",
		"arn:aws:elasticmapreduce::123456789012:cluster/j-1", "arn:aws:elasticmapreduce:us-east-1::cluster/j-1",
		"arn:aws:elasticmapreduce:us-east-1:123456789012:cluster/j-1/x",
	} {
		_, err := source.ParseClusterARN(text)
		require.Error(t, err, text)
	}
}
