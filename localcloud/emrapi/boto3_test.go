package emrapi_test

import (
	_ "embed"
	"os"
	"os/exec"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
)

//go:embed testdata/read.py
var readScript string

// TestBoto3ReadsTheAPI uses the server with AWS's Python SDK, which shares no code
// with it.
func TestBoto3ReadsTheAPI(t *testing.T) {
	python := os.Getenv("OBSERVATORY_PYTHON")
	if python == "" {
		python = "python3"
	}
	err := exec.CommandContext(t.Context(), python, "-c", "import boto3").Run()
	testenv.Require(t, err == nil, python+" has no boto3: `make test` installs it and sets OBSERVATORY_PYTHON")
	c := newCloud(t)
	id := c.putCluster(t)
	c.boot(t, id)
	c.awaitState(t, id, types.ClusterStateWaiting)
	script := exec.CommandContext(t.Context(), python, "-c", readScript, id)
	script.Env = append(os.Environ(), "AWS_ENDPOINT_URL_EMR="+c.http.URL, "AWS_DEFAULT_REGION=eu-west-1",
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_CONFIG_FILE=/dev/null",
		"AWS_SHARED_CREDENTIALS_FILE=/dev/null", "AWS_EC2_METADATA_DISABLED=true")
	out, err := script.CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	require.Equal(t, "boto3 read it all\n", string(out))
}
