package main

import (
	"encoding/json"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

func run(t *testing.T, o outputs.Outputs) (*recorder.Recording, error) {
	t.Helper()
	b, err := json.Marshal(o)
	require.NoError(t, err)
	var object map[string]any
	require.NoError(t, json.Unmarshal(b, &object))
	return recorder.Run(program,
		recorder.WithConfig(map[string]string{"emr-observatory:observatoryStack": "org/emr-observatory/dev", "emr-observatory:region": "eu-west-1"}),
		recorder.WithComputed(func(r recorder.Resource) resource.PropertyMap {
			if r.Type != "pulumi:pulumi:StackReference" {
				return nil
			}
			return resource.NewPropertyMapFromMap(map[string]any{"outputs": map[string]any{outputs.Observatory: object}})
		}))
}

func TestConsumerGrantsTheLakeOnly(t *testing.T) {
	rec, err := run(t, outputs.Outputs{
		SchemaVersion: outputs.SchemaVersion, S3Paths: platform.NewS3Paths("bucket"),
		Bootstrap: outputs.Bootstrap{Args: []string{}}, Dashboards: map[string]string{}, Endpoints: map[string]string{},
	})
	require.NoError(t, err)
	require.Empty(t, rec.Defaults)
	policy, err := rec.One("aws:iam/policy:Policy", "lake-reader")
	require.NoError(t, err)
	require.Contains(t, policy.Inputs["policy"].StringValue(), `"Resource":"arn:aws:s3:::bucket/lake/*"`)
}

func TestConsumerStopsOnAnotherSchema(t *testing.T) {
	_, err := run(t, outputs.Outputs{SchemaVersion: outputs.SchemaVersion + 1})
	require.ErrorContains(t, err, "schemaVersion")
}
