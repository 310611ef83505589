package artifacts_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/assets/node"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

func TestLockHasEveryPartOfANode(t *testing.T) {
	for _, build := range []artifacts.Build{artifacts.Release, artifacts.Development} {
		locked, err := artifacts.Locked(build)
		require.NoError(t, err)
		var installed []node.Installed
		for _, a := range locked {
			installed = append(installed, node.Installed{Name: a.Name, Arch: a.Arch, SHA256: a.SHA256})
		}
		require.ElementsMatch(t, []string{"launcher.jar", "otelcol-linux-amd64.gz", "otelcol-linux-arm64.gz", "async-profiler.jar",
			"spark-plugin.jar", "connect.jar"},
			artifacts.Names(locked))
		_, _, err = node.Bootstrap(node.BootstrapInput{Artifacts: installed, LauncherJar: []byte("PK\x03\x04")})
		require.NoError(t, err)
	}
}

// The collector differs between the builds, in what it is built from and in its
// bytes; nothing else does.
func TestOnlyTheCollectorDependsOnTheBuild(t *testing.T) {
	development, err := artifacts.Locked(artifacts.Development)
	require.NoError(t, err)
	for _, d := range development {
		r := lockedArtifact(t, d.Name)
		if d.Source.Kind != platform.SourceCollector {
			require.Equal(t, d, r)
			continue
		}
		require.Equal(t, [2]artifacts.Build{artifacts.Development, artifacts.Release}, [2]artifacts.Build{d.Build, r.Build})
		require.NotEqual(t, d.SHA256, r.SHA256, d.Name)
		require.NotEqual(t, d.Source.Inputs, r.Source.Inputs, d.Name)
	}
}

// No flag of the release build switches an optimisation off (go tool compile -h: -N
// all of them, -l inlining).
func TestReleaseIsFullyOptimised(t *testing.T) {
	require.Equal(t, []string{"-trimpath", "-gcflags=all=-dwarf=false"}, artifacts.CompilerFlags(artifacts.Release))
	require.Equal(t, platform.ServerFlags(), artifacts.CompilerFlags(artifacts.Development))
}

// The release build of the collector has its locked bytes, compiled from an empty
// store. It takes minutes more than everything that an ordinary run compiles.
func TestReleaseCollectorReproduces(t *testing.T) {
	testenv.RequireLong(t, "make test-long compiles the optimised collector; make artifacts compares what it builds, too")
	store := artifacts.Store{Dir: t.TempDir()}
	for _, arch := range platform.Architectures() {
		name := platform.ArtifactCollector(arch)
		require.NoError(t, artifacts.Ensure(t.Context(), store, artifacts.Release, nil, name))
		_, err := store.Path(lockedArtifact(t, name))
		require.NoError(t, err)
	}
}

// extraPart returns a part that the platform does not have.
func extraPart() platform.NodePart {
	return platform.NodePart{
		Component: "extra", Artifact: func(string) string { return "extra.jar" },
		Source: platform.ArtifactSource{Kind: platform.SourceMaven, Coordinates: "a:extra:1"},
		Path:   platform.NodeInstallDir + "/extra.jar", Mode: "0644",
	}
}

func TestChecksLockAgainstTheParts(t *testing.T) {
	require.NoError(t, artifacts.CheckLock(platform.NodeParts()))
	err := artifacts.CheckLock(append(platform.NodeParts(), extraPart()))
	require.EqualError(t, err, "artifact extra.jar: not in the lock: run `make artifacts-lock`")

	parts := platform.NodeParts()
	profiler := slices.IndexFunc(parts, func(p platform.NodePart) bool { return p.Component == platform.ComponentProfiler })
	parts[profiler].Source.Coordinates = "tools.profiler:async-profiler:5"
	require.ErrorContains(t, artifacts.CheckLock(parts), "artifact async-profiler.jar: the lock has maven tools.profiler:async-profiler:4.4")
	err = artifacts.CheckLock(slices.Delete(parts, profiler, profiler+1))
	require.ErrorContains(t, err, "artifact async-profiler.jar: in the lock, but belongs to no part")
}

func TestPathVerifiesContentAndNamesTheRemedy(t *testing.T) {
	store := artifacts.Store{Dir: t.TempDir()}
	a := artifacts.Artifact{Name: "a.jar", SHA256: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"} // of "foo"
	file := filepath.Join(store.Dir, a.SHA256, a.Name)

	_, err := store.Path(a)
	require.ErrorContains(t, err, "make artifacts")
	require.ErrorContains(t, err, file)
	_, err = store.Path(artifacts.Artifact{Name: "a.gz", Build: artifacts.Release, SHA256: a.SHA256})
	require.ErrorContains(t, err, "a.gz (release build) is not in the store")
	require.ErrorContains(t, err, "make artifacts")
	_, err = store.Path(artifacts.Artifact{Name: "a.gz", Build: artifacts.Development, SHA256: a.SHA256})
	require.ErrorContains(t, err, "make tools")

	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte("fo"), 0o644))
	_, err = store.Path(a)
	require.ErrorContains(t, err, "the lock says "+a.SHA256+": run `make artifacts`")

	require.NoError(t, os.WriteFile(file, []byte("foo"), 0o644))
	path, err := store.Path(a)
	require.NoError(t, err)
	require.Equal(t, file, path)
}

// Maven builds the launcher and the plugin for an empty store. Their bytes have the
// locked sums, and a damaged copy is rebuilt.
func TestEnsureReproducesLockedBytes(t *testing.T) {
	store := artifacts.Store{Dir: t.TempDir()}
	var reports []string
	report := func(name, message string, _ time.Duration) { reports = append(reports, name+": "+message) }
	require.NoError(t, artifacts.Ensure(context.Background(), store, artifacts.Release, report, platform.ArtifactLauncher,
		platform.ArtifactPlugin))
	_, err := store.Path(lockedArtifact(t, platform.ArtifactPlugin))
	require.NoError(t, err)
	launcher := lockedArtifact(t, platform.ArtifactLauncher)
	path, err := store.Path(launcher)
	require.NoError(t, err)

	require.NoError(t, os.Truncate(path, 10))
	require.NoError(t, artifacts.Ensure(context.Background(), store, artifacts.Release, report, platform.ArtifactLauncher))
	_, err = store.Path(launcher)
	require.NoError(t, err)

	reports = nil
	require.NoError(t, artifacts.Ensure(context.Background(), store, artifacts.Release, report, platform.ArtifactLauncher))
	require.Equal(t, []string{"launcher.jar: ready"}, reports)
	left, err := filepath.Glob(filepath.Join(store.Dir, ".work-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestEnsureReportsEveryMissingTool(t *testing.T) {
	store := artifacts.Store{Dir: t.TempDir()}
	t.Setenv("PATH", t.TempDir())
	err := artifacts.Ensure(context.Background(), store, artifacts.Release, nil)
	for _, part := range []string{"launcher.jar: build launcher: mvn is not on PATH", "async-profiler.jar: mvn is not on PATH",
		"otelcol-linux-arm64.gz (release build): patch.json of stanza: go is not on PATH"} {
		require.ErrorContains(t, err, part)
	}
	entries, err := os.ReadDir(store.Dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "only the store's lock file: %v", entries)
	err = artifacts.Ensure(context.Background(), store, artifacts.Release, nil, "other.jar")
	require.ErrorContains(t, err, `artifact "other.jar": the lock has none`)
}

func TestRelockWritesTheSums(t *testing.T) {
	store := artifacts.Store{Dir: t.TempDir()}
	lock := filepath.Join(t.TempDir(), "artifacts.lock.json")
	require.NoError(t, os.WriteFile(lock, []byte(`{"go":"go1.26.8","jdk":"17","artifacts":[{"name":"old.jar"}]}`), 0o644))
	require.NoError(t, artifacts.RelockParts(context.Background(), store, lock, platform.NodeParts()[:1], nil))
	content, err := os.ReadFile(lock)
	require.NoError(t, err)
	var written struct{ Artifacts []artifacts.Artifact }
	require.NoError(t, json.Unmarshal(content, &written))
	require.Equal(t, []artifacts.Artifact{lockedArtifact(t, platform.ArtifactLauncher)}, written.Artifacts)

	// What is not named keeps its entry.
	kept := `{"name":"async-profiler.jar","sha256":"` + strings.Repeat("0a", 32) + `","size":1,` +
		`"source":{"kind":"maven","coordinates":"tools.profiler:async-profiler:4.4"}}`
	require.NoError(t, os.WriteFile(lock, []byte(`{"go":"go1.26.8","jdk":"17","artifacts":[`+kept+`]}`), 0o644))
	two := slices.DeleteFunc(platform.NodeParts(), func(p platform.NodePart) bool {
		return p.Component != platform.ComponentLauncher && p.Component != platform.ComponentProfiler
	})
	require.NoError(t, artifacts.RelockParts(context.Background(), store, lock, two, nil, platform.ArtifactLauncher))
	content, err = os.ReadFile(lock)
	require.NoError(t, err)
	written.Artifacts = nil
	require.NoError(t, json.Unmarshal(content, &written))
	require.Equal(t, lockedArtifact(t, platform.ArtifactLauncher), written.Artifacts[0])
	require.Equal(t, strings.Repeat("0a", 32), written.Artifacts[1].SHA256)

	both, err := artifacts.Named(platform.ArtifactCollector(platform.ArchARM64))
	require.NoError(t, err)
	require.Len(t, both, 2, "a name stands for both builds")

	unknown := extraPart()
	unknown.Source.Kind = "unknown"
	err = artifacts.RelockParts(context.Background(), store, lock, []platform.NodePart{unknown}, nil)
	require.ErrorContains(t, err, `source.kind "unknown"`)
}

// The collector's module has exactly the components of the manifest.
func TestCollectorModuleMatchesItsManifest(t *testing.T) {
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

// lockedArtifact returns an artifact of the release build.
func lockedArtifact(t *testing.T, name string) artifacts.Artifact {
	t.Helper()
	all, err := artifacts.Locked(artifacts.Release)
	require.NoError(t, err)
	for _, a := range all {
		if a.Name == name {
			return a
		}
	}
	require.FailNow(t, "not locked: "+name)
	return artifacts.Artifact{}
}

func TestInstallReportsEveryMissingArtifact(t *testing.T) {
	dir := t.TempDir()
	err := artifacts.Store{Dir: dir}.Install(map[string]string{
		platform.ArtifactLauncher: filepath.Join(dir, "a"), "unknown.jar": filepath.Join(dir, "b"),
	})
	require.ErrorContains(t, err, "launcher.jar")
	require.ErrorContains(t, err, "is not in the store")
	require.ErrorContains(t, err, `artifact "unknown.jar": the lock has none of this name`)
}
