package trial

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks"
)

// ProgramsFolder is a folder with the project's programs, built once for the tests
// of a package.
type ProgramsFolder struct {
	build func() (string, error)
	used  bool
}

// NewPrograms builds nothing until Dir is called. TestMain calls Remove.
func NewPrograms() *ProgramsFolder { return &ProgramsFolder{build: sync.OnceValues(buildPrograms)} }

// Dir builds the programs on first use.
func (p *ProgramsFolder) Dir(t testing.TB) string {
	t.Helper()
	p.used = true
	dir, err := p.build()
	require.NoError(t, err)
	return dir
}

// Remove deletes what Dir built.
func (p *ProgramsFolder) Remove() {
	if p.used {
		if dir, _ := p.build(); dir != "" {
			_ = os.RemoveAll(dir)
		}
	}
}

func buildPrograms() (string, error) {
	if checkoutErr != nil {
		return "", checkoutErr
	}
	dir, err := os.MkdirTemp("", "observatory-bin-")
	if err != nil {
		return "", fmt.Errorf("create a folder for the programs: %w", err)
	}
	build := exec.Command("go", slices.Concat([]string{"build"}, platform.CompilerFlags(), []string{"-buildvcs=false", "-o", dir + "/",
		"./cmd/observatory", "./cmd/observatory-control", "./cmd/observatory-profiler", "./localcloud/machine/machined"})...)
	build.Dir, build.Env = checkout, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("build the programs: %w: %s", err, out)
	}
	return dir, errors.Join(os.Setenv(stacks.BinaryEnv, filepath.Join(dir, "observatory-control")),
		os.Setenv(stacks.ProfilerBinaryEnv, filepath.Join(dir, "observatory-profiler")),
		os.Chmod(dir, 0o755)) // other accounts run machined
}
