package node_test

import (
	"bytes"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/assets/node"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// anyInput returns a valid input with invented checksums.
func anyInput() node.BootstrapInput {
	sum := strings.Repeat("0a", 32)
	return node.BootstrapInput{
		LauncherJar: []byte("PK\x03\x04jar"),
		Artifacts: []node.Installed{
			{Name: platform.ArtifactProfiler, SHA256: sum},
			{Name: platform.ArtifactPlugin, SHA256: sum},
			{Name: platform.ArtifactConnect, SHA256: sum},
			{Name: platform.ArtifactCollector(platform.ArchARM64), Arch: platform.ArchARM64, SHA256: sum},
			{Name: platform.ArtifactCollector(platform.ArchAMD64), Arch: platform.ArchAMD64, SHA256: sum},
			{Name: platform.ArtifactLauncher, SHA256: sum},
		},
	}
}

func TestBootstrapHashDependsOnContentOnly(t *testing.T) {
	_, hash, err := node.Bootstrap(anyInput())
	require.NoError(t, err)
	reversed := anyInput()
	for i, j := 0, len(reversed.Artifacts)-1; i < j; i, j = i+1, j-1 {
		reversed.Artifacts[i], reversed.Artifacts[j] = reversed.Artifacts[j], reversed.Artifacts[i]
	}
	_, same, err := node.Bootstrap(reversed)
	require.NoError(t, err)
	require.Equal(t, hash, same)
	for i := range anyInput().Artifacts[:5] {
		changed := anyInput()
		changed.Artifacts[i].SHA256 = strings.Repeat("1b", 32)
		_, other, err := node.Bootstrap(changed)
		require.NoError(t, err)
		require.NotEqual(t, hash, other, changed.Artifacts[i].Name)
	}
	changed := anyInput()
	changed.LauncherJar = []byte("PK\x03\x04raj")
	_, other, err := node.Bootstrap(changed)
	require.NoError(t, err)
	require.NotEqual(t, hash, other)
}

func TestBootstrapRejectsInvalidArtifacts(t *testing.T) {
	_, _, err := node.Bootstrap(node.BootstrapInput{
		Artifacts:   []node.Installed{{Name: "stray.jar", SHA256: "short"}},
		LauncherJar: []byte("not a jar"),
	})
	for _, part := range []string{"stray.jar", `"short"`, platform.ArtifactProfiler, "otelcol-linux-amd64.gz", "launcher jar",
		"make artifacts"} {
		require.ErrorContains(t, err, part)
	}
}

func TestBootstrapPassesShellcheck(t *testing.T) {
	_, err := exec.LookPath("shellcheck")
	testenv.Require(t, err == nil, "shellcheck is not on PATH: only bash checks the script's syntax")
	script, _, err := node.Bootstrap(anyInput())
	require.NoError(t, err)
	cmd := exec.Command("shellcheck", "-")
	cmd.Stdin = bytes.NewReader(script)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

// The collector's own limits are below those at which the kernel kills it.
func TestNodeCollectorLimitsNest(t *testing.T) {
	config, err := node.CollectorConfig()
	require.NoError(t, err)
	unit, err := node.CollectorUnit()
	require.NoError(t, err)
	mebibytes := func(text []byte, pattern string) int {
		m := regexp.MustCompile(pattern).FindSubmatch(text)
		require.NotNil(t, m, pattern)
		n, err := strconv.Atoi(string(m[1]))
		require.NoError(t, err)
		return n
	}
	limiter := mebibytes(config, `memory_limiter: \{.*\blimit_mib: (\d+)`)
	goLimit := mebibytes(unit, `GOMEMLIMIT=(\d+)MiB`)
	require.Less(t, mebibytes(config, `spike_limit_mib: (\d+)`), limiter)
	require.Less(t, limiter, goLimit)
	require.Less(t, goLimit, mebibytes(unit, `MemoryMax=(\d+)M`))
	require.Equal(t, mebibytes(unit, `MemoryMax=(\d+)M`), mebibytes(unit, `MemoryLimit=(\d+)M`), "for systemd 219")
}
