package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/stacks/config"
)

func TestStepsOfObjects(t *testing.T) {
	cfg, err := config.Parse(map[string]string{
		"region": "us-east-1", "clusters": `{"main":{}}`,
		"schedules": `{"nightly":{"expression":"cron(0 2 * * ? *)","cluster":"main","stepsFrom":"s3://bucket/steps.json"}}`,
	})
	require.NoError(t, err)
	read, warnings, err := config.WithSteps(cfg, map[string]string{
		"nightly": `[{"name":"load","args":["spark-submit","s3://bucket/load.py"]},{"name":"b","args":["true"]}]`,
	})
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Len(t, read.Schedules["nightly"].Steps, 2)
	require.Equal(t, "command-runner.jar", read.Schedules["nightly"].Steps[0].Jar, "defaults are those of the configuration")
	require.Empty(t, cfg.Schedules["nightly"].Steps, "what was given stays")

	_, warnings, err = config.WithSteps(cfg, map[string]string{
		"nightly": `[{"name":"a","args":["spark-submit","--deploy-mode cluster","x.py"]}]`,
	})
	require.NoError(t, err)
	require.Len(t, warnings, 1, "as of steps in the configuration")

	for text, want := range map[string]string{
		`{"name":"load"}`: ": ", `[{"name":"load"`: ": ",
		`[{"name":"l","args":["--password","hunter2"],}]`: ": [hidden] must be a JSON list of steps; its syntax ends at byte 46",
		`{"args":["--password","hunter2"]}`:               ": [secret] must be an array",
		`[]`:                                              ": 0 must be 1 to ",
		`[{"name":"load","arguments":[]}]`:                "[0].arguments: [secret] is not a key",
		`[{"name":"l","args":[]}]`:                        "[0].args: ",
		`[{"name":"a$b","args":["true"]}]`:                "[0].name: ",
		`[{"name":"a","args":["spark-submit","--conf","spark.my.password=hunter2","x.py"]}]`: "[0].args[2]: [hidden]",
		`[{"name":"a","args":["true"]},{"name":"a","args":["true"]}]`:                        "[1].name: ",
	} {
		_, _, err := config.WithSteps(cfg, map[string]string{"nightly": text})
		require.ErrorContains(t, err, "emr-observatory:schedules.nightly.stepsFrom"+want, text)
		require.NotContains(t, err.Error(), "config set", "the fault is in S3")
		require.NotContains(t, err.Error(), "hunter2")
	}
}
