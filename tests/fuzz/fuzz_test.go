// Package fuzz_test runs the fuzz targets of all packages for minutes each.
package fuzz_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
)

// How long each target is fuzzed. An input that reaches something new is shortened in few
// tries: with whole logs as inputs that would otherwise take all the time.
const (
	fuzzTime    = 2 * time.Minute
	fuzzMinimal = "20x"
)

// target is a fuzz target: a function of a package's tests.
type target struct{ folder, name string }

var declaration = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// targets returns the fuzz targets of the repository.
func targets(t *testing.T) (all []target) {
	t.Helper()
	root := trial.Root(t)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), ".") {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, match := range declaration.FindAllSubmatch(text, -1) {
			all = append(all, target{filepath.Dir(path), string(match[1])})
		}
		return nil
	})
	require.NoError(t, err)
	return all
}

// checkedPointers compiles the target's package, and what reads logs through unsafe
// pointers, so that each pointer is checked.
func checkedPointers() []string {
	var flags []string
	for _, packages := range []string{
		".", "github.com/klauspost/compress/...", "github.com/mailru/easyjson/...", "github.com/pierrec/lz4/...",
	} {
		flags = append(flags, "-gcflags="+packages+"=-dwarf=false -l -d=checkptr")
	}
	return flags
}

// TestFuzz fuzzes every target in turn. `make test` runs their seeds only. An input that
// fails is in the package's testdata/fuzz afterwards: add what matters of it to the seeds.
func TestFuzz(t *testing.T) {
	all := targets(t)
	require.Contains(t, all, target{filepath.Join(trial.Root(t), "eventlog"), "FuzzLines"})
	testenv.RequireLong(t, "make test-long fuzzes each target for minutes; each is also a test of its seeds")
	for _, one := range all {
		t.Run(one.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"test"}, platform.CompilerFlags(), checkedPointers(),
				[]string{"-run=^$", "-fuzz=^" + one.name + "$", "-fuzztime=" + fuzzTime.String(), "-fuzzminimizetime=" + fuzzMinimal})...)
			cmd.Dir = one.folder
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			t.Log(lines[max(0, len(lines)-3)])
		})
	}
}
