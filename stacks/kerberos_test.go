package stacks_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
)

// The real engine shows and stores the password of a KDC as a secret: not in the
// preview, not while it updates, not in the state.
func TestPasswordsOfKerberosAppearNowhere(t *testing.T) {
	const parameter = "/observatory/kdc"
	password := "value of " + parameter // as the provider servers answer
	values, folder := auto.ConfigMap{}, t.TempDir()
	for k, v := range trial.Values(t, "local") {
		values[k] = auto.ConfigValue{Value: v}
	}
	values[platform.Project+":clusters"] = auto.ConfigValue{Value: `{"main":{"kerberos":{"passwordParameter":"` + parameter + `"}}}`}
	stage, err := rehearse.Open(t.Context(), trial.Program(trial.Materials(t)), rehearse.Options{
		Project: platform.Project, Stack: "local", Config: values, PulumiCommand: trial.Pulumi(t), WorkDir: folder,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stage.Close()) })
	preview, err := stage.Stack.Preview(t.Context(), optpreview.Diff())
	require.NoError(t, err)
	require.Contains(t, preview.StdOut, "kdcAdminPassword")
	require.NotContains(t, preview.StdOut+preview.StdErr, password)
	up, err := stage.Stack.Up(t.Context())
	require.NoError(t, err)
	require.NotContains(t, up.StdOut+up.StdErr, password)
	stored := false
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		require.False(t, bytes.Contains(text, []byte(password)), "%s has the password in clear", path)
		stored = stored || bytes.Contains(text, []byte("kerberosAttributes"))
		return err
	}))
	require.True(t, stored, "the state is elsewhere")
	require.Contains(t, secretOutputs(t, stage, "emr-main-cluster"), "kerberosAttributes", "a refresh would store it in clear")
}

// secretOutputs returns which outputs of a resource the engine keeps secret whatever the
// provider says.
func secretOutputs(t *testing.T, stage *rehearse.Stage, name string) []string {
	t.Helper()
	state, err := stage.Stack.Export(t.Context())
	require.NoError(t, err)
	var deployment struct {
		Resources []struct {
			URN                     resource.URN `json:"urn"`
			AdditionalSecretOutputs []string     `json:"additionalSecretOutputs"`
		} `json:"resources"`
	}
	require.NoError(t, json.Unmarshal(state.Deployment, &deployment))
	for _, r := range deployment.Resources {
		if r.URN.Name() == name && r.URN.Type() == "aws:emr/cluster:Cluster" {
			return r.AdditionalSecretOutputs
		}
	}
	return nil
}
