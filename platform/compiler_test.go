package platform_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

func TestMakefileUsesCompilerFlags(t *testing.T) {
	text, err := os.ReadFile("../Makefile")
	require.NoError(t, err)
	require.Contains(t, string(text), "BUILD := "+platform.CompilerMemory+" go build ")
	for _, binary := range platform.Binaries() {
		require.Contains(t, string(text), " -o bin/"+binary.File("$(1)")+" ")
	}

	// Go splits GOFLAGS at spaces outside single quotes.
	cmd := exec.Command("make", "-s", "-C", "..", "--eval", "print-goflags:; @printf '%s' \"$$GOFLAGS\"", "print-goflags")
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	goflags, err := cmd.Output()
	require.NoError(t, err)
	var exported []string
	for i, part := range strings.Split(string(goflags), "'") {
		if i%2 == 1 {
			exported = append(exported, part)
		} else {
			exported = append(exported, strings.Fields(part)...)
		}
	}
	require.Equal(t, platform.CompilerFlags(), exported)
}
