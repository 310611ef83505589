package servers_test

import (
	"context"
	"go/version"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// notBuilt lists the workloads without a server of this package. The module proxy does
// not have Grafana's; the others are this project's own.
func notBuilt() map[platform.Workload]bool {
	return map[platform.Workload]bool{
		platform.WorkloadGrafana: true, platform.WorkloadStatus: true, platform.WorkloadRedelivery: true, platform.WorkloadProfiler: true,
		platform.WorkloadTools: true,
	}
}

func TestServersHaveTheVersionsOfTheImages(t *testing.T) {
	compared := 0
	for _, w := range platform.Workloads() {
		if notBuilt()[w.Name] {
			continue
		}
		s, err := servers.Get(string(w.Name))
		require.NoError(t, err)
		require.Equal(t, strings.TrimPrefix(w.Image.Tag, "v"), s.Release,
			"platform.Workloads and toolchain/servers/modules/%s.mod differ: move both", s.Name)
		compared++
	}
	require.Equal(t, len(platform.Workloads())-len(notBuilt()), compared)
}

func TestTempoCommitMatchesItsRelease(t *testing.T) {
	s, err := servers.Get(string(platform.WorkloadTempo))
	require.NoError(t, err)
	require.Equal(t, "v1.5.1-0.20251008140505-607c7fb69662", s.Version,
		"the commit moved: say in servers.go which release it is, then edit this line")
	require.Equal(t, "2.9.0", s.Release)
}

func TestListIncludesEachServerOnce(t *testing.T) {
	list, err := servers.List()
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, s := range list {
		require.False(t, seen[s.Name], s.Name)
		seen[s.Name] = true
		require.NotEmpty(t, s.Version)
		require.NotContains(t, s.LDFlags, "%", s.Name)
	}
	require.True(t, seen[servers.Pulumi] && seen[servers.VersityGW])
}

// `make up` must not build what only tests need. Kubernetes' servers in tests must have
// the version of the control node's K3s.
func TestServersForTestsAreSeparate(t *testing.T) {
	list, err := servers.List()
	require.NoError(t, err)
	forTests := []string{servers.Etcd, servers.KubeAPIServer, servers.KubeControllerManager, servers.KWOK, servers.KubernetesProvider}
	for _, s := range list {
		require.NotContains(t, forTests, s.Name)
	}
	for _, name := range forTests {
		_, err := servers.Get(name)
		require.NoError(t, err)
	}
	etcd, err := servers.Get(servers.Etcd)
	require.NoError(t, err)
	require.Equal(t, etcd.Module, etcd.Package, "etcd's main package is its module's root")
	api, err := servers.Get(servers.KubeAPIServer)
	require.NoError(t, err)
	require.Equal(t, semver.MajorMinor(platform.K3sVersion), semver.MajorMinor(api.Version),
		"platform.K3sVersion and toolchain/servers/modules/kube-apiserver.mod differ: move both")
	controllers, err := servers.Get(servers.KubeControllerManager)
	require.NoError(t, err)
	require.Equal(t, api.Version, controllers.Version)
}

// Modules that several servers require have one version in everything that is
// built on a machine, so that they are compiled once: those that promise
// compatibility, and large others that compile in every server.
func TestServersShareModuleVersions(t *testing.T) {
	files := []string{"../../go.mod", "../../assets/node/_collector/collector.mod"}
	list, err := servers.List()
	require.NoError(t, err)
	for _, s := range list {
		files = append(files, "modules/"+s.Name+".mod")
	}
	shared := regexp.MustCompile(`^(google\.golang\.org|golang\.org/x|cloud\.google\.com|go\.etcd\.io|go\.uber\.org|go\.yaml\.in)/|` +
		`^github\.com/(aws|Azure|AzureAD|andybalholm|antchfx|charmbracelet|elastic|go-openapi|goccy|jedib0t|klauspost|miekg|minio|` +
		`pb33f|shirou|tinylib|ua-parser|zclconf)/|` +
		`^go\.opentelemetry\.io/otel(/metric|/sdk|/trace)?$`)
	type use struct{ file, version string }
	uses := map[string][]use{}
	for _, file := range files {
		parsed, err := modfile.Parse(file, []byte(read(t, file)), nil)
		require.NoError(t, err)
		for _, r := range parsed.Require {
			if shared.MatchString(r.Mod.Path) {
				uses[r.Mod.Path] = append(uses[r.Mod.Path], use{file, r.Mod.Version})
			}
		}
	}
	require.Greater(t, len(uses["google.golang.org/grpc"]), 4)
	for module, of := range uses {
		for _, u := range of {
			require.Equalf(
				t, of[0].version, u.version, "%s in %s and %s: go get the newest in each (see decision 7)", module, of[0].file, u.file,
			)
		}
	}
}

func TestErrorForUnknownServerListsKnownOnes(t *testing.T) {
	_, err := servers.Build(context.Background(), "tempoo", nil)
	require.ErrorContains(t, err, "tempo,")
}

func TestFindErrorNamesTheRemedy(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv(servers.DirEnv, t.TempDir())
	// The go command itself must stay on PATH.
	t.Setenv("PATH", fakeGoDir(t))
	_, err := servers.Find(context.Background(), "tempo")
	require.ErrorContains(t, err, "make tools")
}

func TestFindPrefersConfiguredFolder(t *testing.T) {
	dir := t.TempDir()
	want := filepath.Join(dir, "tempo")
	require.NoError(t, os.WriteFile(want, []byte("#!/bin/sh\n"), 0o755))
	t.Setenv(servers.DirEnv, dir)
	got, err := servers.Find(context.Background(), "tempo")
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// This tests the cache, with a fake go command that logs its calls and writes a file.
// `make tools` does the real builds.
func TestConcurrentBuildsCompileOnce(t *testing.T) {
	builder, calls := newFakeBuilder(t, `out=$(echo "$@" | sed 's/.*-o \([^ ]*\).*/\1/'); echo built >"$out"`)
	var wg sync.WaitGroup
	paths, errs := make([]string, 4), make([]error, 4)
	for i := range paths {
		wg.Go(func() { paths[i], errs[i] = builder.Build(context.Background(), "tempo", nil) })
	}
	wg.Wait()
	for i := range paths {
		require.NoError(t, errs[i])
		require.Equal(t, paths[0], paths[i])
	}
	require.FileExists(t, paths[0])
	require.Equal(t, 1, strings.Count(read(t, calls), "build"))

	var messages []string
	_, err := builder.Build(context.Background(), "tempo", func(_, m string, _ time.Duration) { messages = append(messages, m) })
	require.NoError(t, err)
	require.Len(t, messages, 1)
	require.Contains(t, messages[0], "ready")
}

func TestFailedBuildLeavesNothingAndReportsCause(t *testing.T) {
	// The compiler continues with other packages after an error in one.
	builder, _ := newFakeBuilder(
		t,
		`exec >&2; echo "# example.com/a"; echo "a.go:1:2: undefined: b"; for i in $(seq 200); do echo example.com/c$i; done; exit 1`,
	)
	_, err := builder.Build(context.Background(), "pyroscope", nil)
	require.ErrorContains(t, err, "# example.com/a\na.go:1:2: undefined: b\n")
	require.NotContains(t, err.Error(), "example.com/c")
	left, err := filepath.Glob(filepath.Join(builder.Dir, "*", "*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestCancelledBuildLeavesNothing(t *testing.T) {
	builder, calls := newFakeBuilder(t, `exec sleep 60`)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { _, err := builder.Build(ctx, "pyroscope", nil); done <- err }()
	testenv.Eventually(t, func() bool { return strings.Contains(read(t, calls), "build") }, testenv.Arrival, 10*time.Millisecond)
	cancel()
	require.Error(t, <-done)
	left, err := filepath.Glob(filepath.Join(builder.Dir, "*", "*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// newFakeBuilder returns a builder with a fake go command, which answers `env` and
// executes body for `build`, and the file in which it logs the builds.
func newFakeBuilder(t *testing.T, body string) (servers.Builder, string) {
	t.Helper()
	dir := t.TempDir()
	calls := filepath.Join(dir, "calls")
	require.NoError(t, os.WriteFile(calls, nil, 0o644))
	script := "#!/bin/sh\nif [ \"$1\" = env ]; then echo go1.0; exit; fi\necho \"$1\" >>" + calls + "\n" + body + "\n"
	path := filepath.Join(dir, "go")
	require.NoError(t, os.WriteFile(path, []byte(script), 0o755))
	return servers.Builder{Dir: filepath.Join(dir, "cache"), Go: path}, calls
}

// fakeGoDir returns a folder with only a go command, which answers `env`.
func fakeGoDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\necho go1.0\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o755))
	return dir
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

func TestGoVersionIsTheHighestOfAllServers(t *testing.T) {
	highest, err := servers.GoVersion()
	require.NoError(t, err)
	list, err := servers.List()
	require.NoError(t, err)
	reached := false
	for _, s := range list {
		raw, err := os.ReadFile(filepath.Join("modules", s.Name+".mod"))
		require.NoError(t, err)
		mod, err := modfile.ParseLax(s.Name, raw, nil)
		require.NoError(t, err)
		require.LessOrEqual(t, version.Compare("go"+mod.Go.Version, "go"+highest), 0, s.Name)
		reached = reached || mod.Go.Version == highest
	}
	require.True(t, reached)
}
