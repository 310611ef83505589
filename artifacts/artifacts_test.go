package artifacts_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/assets/node"
	"github.com/emr-observatory/emr-observatory/platform"
)

func TestTheLockHoldsWhatANodeInstalls(t *testing.T) {
	locked, err := artifacts.Locked()
	require.NoError(t, err)
	arches := map[string]string{}
	var installed []node.Installed
	for _, a := range locked {
		arches[a.Name] = a.Arch
		installed = append(installed, node.Installed{Name: a.Name, Arch: a.Arch, SHA256: a.SHA256})
	}
	require.Equal(t, map[string]string{
		platform.ArtifactLauncher: "", platform.ArtifactProfiler: "",
		platform.ArtifactCollector(platform.ArchAMD64): platform.ArchAMD64,
		platform.ArtifactCollector(platform.ArchARM64): platform.ArchARM64,
	}, arches)
	_, _, err = node.Bootstrap(node.BootstrapInput{Artifacts: installed, LauncherJar: []byte("PK\x03\x04")})
	require.NoError(t, err)
}

func TestPathVerifiesContentAndNamesTheRemedy(t *testing.T) {
	store := artifacts.Store{Dir: t.TempDir()}
	a := artifacts.Artifact{Name: "a.jar", SHA256: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"} // of "foo"
	file := filepath.Join(store.Dir, a.SHA256, a.Name)

	_, err := store.Path(a)
	require.ErrorContains(t, err, "make artifacts")
	require.ErrorContains(t, err, file)

	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte("fo"), 0o644))
	_, err = store.Path(a)
	require.ErrorContains(t, err, "the lock says "+a.SHA256+": run `make artifacts`")

	require.NoError(t, os.WriteFile(file, []byte("foo"), 0o644))
	path, err := store.Path(a)
	require.NoError(t, err)
	require.Equal(t, file, path)
}

// The launcher is rebuilt by Maven in an empty store: the lock's sum is what
// its sources give, and a damaged copy is made anew.
func TestFulfilRebuildsTheLockedBytes(t *testing.T) {
	store := artifacts.Store{Dir: t.TempDir()}
	var told []string
	tell := func(name, message string, _ time.Duration) { told = append(told, name+": "+message) }
	require.NoError(t, artifacts.Fulfil(context.Background(), store, tell, platform.ArtifactLauncher))
	launcher := locked(t, platform.ArtifactLauncher)
	path, err := store.Path(launcher)
	require.NoError(t, err)

	require.NoError(t, os.Truncate(path, 10))
	require.NoError(t, artifacts.Fulfil(context.Background(), store, tell, platform.ArtifactLauncher))
	_, err = store.Path(launcher)
	require.NoError(t, err)

	told = nil
	require.NoError(t, artifacts.Fulfil(context.Background(), store, tell, platform.ArtifactLauncher))
	require.Equal(t, []string{"launcher.jar: ready"}, told)
	left, err := filepath.Glob(filepath.Join(store.Dir, ".work-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestFulfilLeavesNothingWhenAToolIsMissing(t *testing.T) {
	store := artifacts.Store{Dir: t.TempDir()}
	t.Setenv("PATH", t.TempDir())
	err := artifacts.Fulfil(context.Background(), store, nil)
	for _, part := range []string{"launcher.jar: mvn is not on PATH", "async-profiler.jar: mvn is not on PATH", "otelcol-linux-arm64.gz: go is not on PATH"} {
		require.ErrorContains(t, err, part)
	}
	entries, err := os.ReadDir(store.Dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "only the lock of the store: %v", entries)
	require.ErrorContains(t, artifacts.Fulfil(context.Background(), store, nil, "other.jar"), `artifact "other.jar": the lock has none`)
}

func TestRelockWritesWhatWasMade(t *testing.T) {
	store := artifacts.Store{Dir: t.TempDir()}
	lock := filepath.Join(t.TempDir(), "artifacts.lock.json")
	require.NoError(t, os.WriteFile(lock, []byte(`{"go":"go1.26.8","jdk":"17","artifacts":[{"name":"launcher.jar","source":{"kind":"launcher"}}]}`), 0o644))
	require.NoError(t, artifacts.Relock(context.Background(), store, lock, nil))
	content, err := os.ReadFile(lock)
	require.NoError(t, err)
	var written struct{ Artifacts []artifacts.Artifact }
	require.NoError(t, json.Unmarshal(content, &written))
	require.Equal(t, []artifacts.Artifact{locked(t, platform.ArtifactLauncher)}, written.Artifacts)

	require.NoError(t, os.WriteFile(lock, []byte(`{"artifacts":[{"name":"x","source":{"kind":"stone"}}]}`), 0o644))
	require.ErrorContains(t, artifacts.Relock(context.Background(), store, lock, nil), `source.kind "stone"`)
}

// The module that is compiled is the one that the manifest describes.
func TestTheCollectorsModuleHasTheManifestsParts(t *testing.T) {
	manifest, err := os.ReadFile("../assets/node/_collector/manifest.yaml")
	require.NoError(t, err)
	sources, err := node.CollectorSources()
	require.NoError(t, err)
	parts := 0
	for _, line := range strings.Split(string(manifest), "\n") {
		if _, part, found := strings.Cut(line, "- gomod: "); found {
			parts++
			require.Contains(t, string(sources["go.mod"]), "\t"+part+"\n")
			module, _, _ := strings.Cut(part, " ")
			require.Contains(t, string(sources["components.go"])+string(sources["main.go"]), `"`+module+`"`)
		}
	}
	require.GreaterOrEqual(t, parts, 10)
}

func locked(t *testing.T, name string) artifacts.Artifact {
	t.Helper()
	all, err := artifacts.Locked()
	require.NoError(t, err)
	for _, a := range all {
		if a.Name == name {
			return a
		}
	}
	require.FailNow(t, "not locked: "+name)
	return artifacts.Artifact{}
}
