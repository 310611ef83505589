// Package trial provides what tests of the whole program need to run it:
// stand-ins for materials, stack files as the engine passes them, provider
// results, and the engine.
//
// It is for tests only. It does not simulate resources: those are recorded
// (internal/recorder) or served (simulator/rehearse).
package trial

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/components/telemetry"
	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// checkout is found upward from the folder in which the test starts.
var checkout, checkoutErr = findCheckout()

func findCheckout() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
	}
	return "", errors.Join(err, errors.New("no go.mod above the test"))
}

// Root returns the checkout's folder.
func Root(t testing.TB) string {
	t.Helper()
	require.NoError(t, checkoutErr)
	return checkout
}

// Pulumi returns the path of the engine's binary: OBSERVATORY_PULUMI, else the one on PATH.
func Pulumi(t testing.TB) string {
	t.Helper()
	if p := os.Getenv("OBSERVATORY_PULUMI"); p != "" {
		return p
	}
	p, err := exec.LookPath("pulumi")
	require.NoError(t, err, "no pulumi binary: run `make tools`, or set OBSERVATORY_PULUMI to one")
	return p
}

// Values returns the keys of a stack file as the engine passes them to the
// program: with their namespace, scalars bare, everything else as JSON.
func Values(t testing.TB, stack string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(t), "Pulumi."+stack+".yaml"))
	require.NoError(t, err)
	var file struct {
		Config map[string]any `json:"config"`
	}
	require.NoError(t, yaml.UnmarshalStrict(text, &file))
	out := map[string]string{}
	for k, v := range file.Config {
		if s, isText := v.(string); isText {
			out[k] = s
			continue
		}
		b, err := json.Marshal(v)
		require.NoError(t, err)
		out[k] = string(b)
	}
	return out
}

// Program returns the real program with the given materials.
func Program(m stacks.Materials) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		cfg, err := config.Load(ctx)
		if err != nil {
			return err
		}
		return stacks.Build(ctx, cfg, m)
	}
}

// Materials creates a small stand-in for each artifact of the lock file.
func Materials(t testing.TB) stacks.Materials {
	t.Helper()
	dir := t.TempDir()
	suite, err := dashboards.Suite()
	require.NoError(t, err)
	binary := func(b platform.Binary) telemetry.Staged {
		return Stage(t, dir, b.File(platform.ArchAMD64), platform.ArchAMD64, "")
	}
	m := stacks.Materials{
		Dashboards: suite, ControlBinary: binary(platform.BinaryControl), ProfilerBinary: binary(platform.BinaryProfiler),
	}
	for _, a := range Locked(t) {
		staged := Stage(t, dir, a.Name, a.Arch, "")
		if a.Name == path.Base(platform.NodeLauncherJar) {
			m.LauncherJar = staged
			continue
		}
		m.Artifacts = append(m.Artifacts, staged)
	}
	require.NotEmpty(t, m.Artifacts)
	require.NotEmpty(t, m.LauncherJar.Path, "the lock names no launcher")
	return m
}

// Stage writes a stand-in for one material: a zip file, since the bootstrap action
// checks that a jar is one. Another edition has other content.
func Stage(t testing.TB, dir, name, arch, edition string) telemetry.Staged {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	_, err := w.Create(name + edition)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	file := filepath.Join(dir, name+edition)
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
	sum := sha256.Sum256(b.Bytes())
	return telemetry.Staged{Name: name, Arch: arch, SHA256: hex.EncodeToString(sum[:]), Path: file}
}

// Locked returns the lock's entries. Package artifacts tests that the lock
// matches its sources.
func Locked(t testing.TB) []artifacts.Artifact {
	t.Helper()
	list, err := artifacts.Locked(artifacts.Development)
	if err != nil {
		t.Log(err)
	}
	require.NotEmpty(t, list)
	return list
}
