package emr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
)

// The name of the data bucket, which no configuration can know, stands in the properties that
// ask for it, of the cluster and of a task group.
func TestPropertiesNameTheDataBucket(t *testing.T) {
	a := validArgs()
	a.Configurations = []schema.Configuration{{
		Classification: "flink-conf", Properties: map[string]string{"state.checkpoints.dir": "s3://" + schema.DataBucket + "/lake/flink/"},
	}}
	a.Tasks = map[string]schema.InstanceGroup{"own": {InstanceType: "m5.xlarge", Count: 1, Configurations: []schema.Configuration{{
		Classification: "core-site", Properties: map[string]string{"fs.own": schema.DataBucket},
	}}}}
	rec := run(t, a)
	const name = "data-bucket" // validArgs
	text := one(t, rec, clusterType, "emr-cluster").Inputs["configurationsJson"].StringValue()
	require.NotContains(t, text, schema.DataBucket)
	require.Contains(t, text, `"state.checkpoints.dir":"s3://`+name+`/lake/flink/"`)
	require.Contains(t, one(t, rec, groupType, "emr-task-own").Inputs["configurationsJson"].StringValue(), `"fs.own":"`+name+`"`)
}

// Nodes write notebooks if JupyterHub keeps them in the data bucket, and only then.
func TestNodesKeepNotebooks(t *testing.T) {
	a := validArgs()
	a.Applications = append(a.Applications, "JupyterHub")
	require.NotContains(t, statements(t, one(t, run(t, a), policyType, "emr-node").Inputs["policy"]), "KeepNotebooks")
	storage := map[string]string{"s3.persistence.enabled": "true", "s3.persistence.bucket": "teams-own"}
	a.Configurations = []schema.Configuration{{Classification: "jupyter-s3-conf", Properties: storage}}
	require.NotContains(t, statements(t, one(t, run(t, a), policyType, "emr-node").Inputs["policy"]), "KeepNotebooks")
	storage["s3.persistence.bucket"] = schema.DataBucket
	s := statements(t, one(t, run(t, a), policyType, "emr-node").Inputs["policy"])
	require.Equal(t, []string{bucketARN + "/jupyter/*"}, s["KeepNotebooks"].Resource)
	require.Equal(t, []string{"jupyter", "jupyter/*"}, s["ListNotebooks"].Condition["StringLike"]["s3:prefix"])
}
