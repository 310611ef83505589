package emrapi_test

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
)

//go:embed testdata/read.py
var readScript string

//go:embed testdata/run.py
var runScript string

// TestBoto3ReadsTheAPI uses the server with AWS's Python SDK, which shares no code
// with it.
func TestBoto3ReadsTheAPI(t *testing.T) {
	c := newCloud(t)
	id := c.putCluster(t)
	c.boot(t, id)
	c.awaitState(t, id, types.ClusterStateWaiting)
	require.Equal(t, "boto3 read it all\n", c.runPython(t, readScript, id))
}

// TestBoto3StartsClusters starts a cluster with every setting of RunJobFlow that has an
// answer, and requires each of them back.
func TestBoto3StartsClusters(t *testing.T) {
	c := newCloud(t)
	require.Equal(t, "boto3 ran it all\n", c.runPython(t, runScript))
	for _, id := range c.store.ClusterIDs() {
		record, err := os.ReadFile(filepath.Join(c.dir, id+".json"))
		require.NoError(t, err)
		require.NotContains(t, string(record), "not-to-be-kept", "a password is not stored")
	}
}

// runPython runs a script with boto3 and returns its output.
func (c *cloud) runPython(t *testing.T, text string, args ...string) string {
	t.Helper()
	python := os.Getenv("OBSERVATORY_PYTHON")
	if python == "" {
		python = "python3"
	}
	err := exec.CommandContext(t.Context(), python, "-c", "import boto3").Run()
	testenv.Require(t, err == nil, python+" has no boto3: `make test` installs it and sets OBSERVATORY_PYTHON")
	script := exec.CommandContext(t.Context(), python, append([]string{"-c", text}, args...)...)
	script.Env = append(os.Environ(), "AWS_ENDPOINT_URL_EMR="+c.http.URL, "AWS_DEFAULT_REGION=eu-west-1",
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_CONFIG_FILE=/dev/null",
		"AWS_SHARED_CREDENTIALS_FILE=/dev/null", "AWS_EC2_METADATA_DISABLED=true")
	out, err := script.CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	return string(out)
}
