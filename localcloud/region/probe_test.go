package region_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// Try creates a region and removes it; where the kernel refuses, the error names
// what was refused.
func TestTryReportsWhatTheKernelRefuses(t *testing.T) {
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "machined"), "../machine/machined")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	machined := filepath.Join(dir, "machined")

	t.Setenv(probeEnv, "1")
	require.NoError(t, region.CheckPermitted(machined, []string{os.Args[0]}))
	t.Setenv(probeEnv, "twice")
	require.ErrorContains(t, region.CheckPermitted(machined, []string{os.Args[0]}), "bridge: file exists")
	require.ErrorContains(t, region.CheckPermitted(machined, []string{"/bin/false"}), "/bin/false ended")
	require.ErrorContains(t, region.CheckPermitted(filepath.Join(dir, "absent"), nil), "no such file")
}
