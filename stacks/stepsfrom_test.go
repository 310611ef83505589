package stacks_test

import (
	"fmt"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/stacks"
)

// buildWithObject records a stack whose schedule has its steps in this object.
func buildWithObject(t *testing.T, contentType, body string) (*recorder.Recording, error) {
	t.Helper()
	cfg := parseConfig(t, map[string]string{
		"clusters":  `{"main":{}}`,
		"schedules": `{"nightly":{"expression":"cron(0 2 * * ? *)","cluster":"main","stepsFrom":"s3://bucket/steps.json"}}`,
	})
	object := recorder.WithInvoke("aws:s3/getObject:getObject", map[string]any{
		"contentType": contentType, "body": body, "contentLength": 7,
	})
	return recorder.Run(func(ctx *pulumi.Context) error { return stacks.Build(ctx, cfg, trial.Materials(t)) },
		append(trial.Answers(), object)...)
}

// The steps of an object are those of the schedule, whose programs nodes may read. A fault of the object creates nothing.
func TestStepsAreReadFromS3(t *testing.T) {
	rec, err := buildWithObject(t, "application/json", `[{"name":"load","args":["spark-submit","s3://bucket/load.py"]}]`)
	require.NoError(t, err)
	made, err := rec.One("aws:scheduler/schedule:Schedule", "schedules-nightly")
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(made.Inputs.Mappable()["target"]), "s3://bucket/load.py")
	policy, err := rec.One("aws:iam/rolePolicy:RolePolicy", "emr-main-node")
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(policy.Inputs.Mappable()["policy"]), "arn:aws:s3:::bucket/load.py")

	for body, want := range map[string]string{
		"":                                 "its Content-Type is \"binary/octet-stream\", of which",
		`[{"name":"load","argumens":[]}]`:  "schedules.nightly.stepsFrom[0].argumens",
		`[{"name":"load","args":["true"]`:  "schedules.nightly.stepsFrom",
		`[{"name":"load","args":["hdfs"]}`: "schedules.nightly.stepsFrom",
	} {
		rec, err := buildWithObject(t, "binary/octet-stream", body)
		require.ErrorContains(t, err, want, body)
		for _, r := range rec.Resources {
			require.Contains(t, r.Type, "pulumi:providers:", "%s was registered", r.Name)
		}
	}
}
