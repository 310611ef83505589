package artifacts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/artifacts"
)

// patched is a module with one dependency, of the version that this repository has, and a
// patch of that.
func patched(t *testing.T, from string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write := func(name, content string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile("../" + name)
		require.NoError(t, err)
		write(name, string(content))
	}
	write("own/patch.json", `{"module": "golang.org/x/mod", "file": "semver/semver.go", "from": "`+from+`", "to": "return added(v)"}`)
	write("own/semver/added.go", "package semver\n\nfunc added(string) bool { return true }\n")
	write("main.go", "package main\n\nimport \"golang.org/x/mod/semver\"\n\nfunc main() { println(semver.IsValid(\"none\")) }\n")
	return dir
}

// A patched module is the one that go.sum verifies, with one change and the added files; the
// program links it.
func TestPatchedModules(t *testing.T) {
	dir := patched(t, "_, ok := parse(v)\\n\\treturn ok")
	require.NoError(t, artifacts.ApplyPatches(t.Context(), dir, nil))
	run := exec.CommandContext(t.Context(), "go", "run", ".")
	run.Dir = dir
	out, err := run.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "true\n", string(out))
	require.NoFileExists(t, filepath.Join(dir, "own", "semver", "semver_test.go"))
}

// A new version of a module may have something else where the patch was made for.
func TestPatchThatNoLongerFits(t *testing.T) {
	err := artifacts.ApplyPatches(t.Context(), patched(t, "return nothing"), nil)
	require.ErrorContains(t, err, `patch.json of own: semver/semver.go: "return nothing" occurs 0 times: it must occur once`)
}
