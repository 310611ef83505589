package emrapi_test

import (
	_ "embed"
	"os"
	"os/exec"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"
)

//go:embed testdata/read.py
var readScript string

// TestBoto3ReadsTheAPI lets AWS's Python SDK, a reader of the service model
// that shares no code with ours, work on the server.
func TestBoto3ReadsTheAPI(t *testing.T) {
	python := os.Getenv("OBSERVATORY_PYTHON")
	if python == "" {
		python = "python3"
	}
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import boto3").CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			require.NoErrorf(t, err, "%s has no boto3; run `make tools`, which sets OBSERVATORY_PYTHON\n%s", python, out)
		}
		t.Skipf("%s has no boto3 (%v): run `make tools` and set OBSERVATORY_PYTHON", python, err)
	}
	c := newCloud(t)
	id := c.cluster(t)
	c.boot(t, id)
	c.wait(t, id, types.ClusterStateWaiting)
	script := exec.CommandContext(t.Context(), python, "-c", readScript, id)
	script.Env = append(os.Environ(), "AWS_ENDPOINT_URL_EMR="+c.http.URL, "AWS_DEFAULT_REGION=eu-west-1",
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_CONFIG_FILE=/dev/null",
		"AWS_SHARED_CREDENTIALS_FILE=/dev/null", "AWS_EC2_METADATA_DISABLED=true")
	out, err := script.CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	require.Equal(t, "boto3 read it all\n", string(out))
}
