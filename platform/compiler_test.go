package platform_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

func TestMakefileCompilesAsThePrograms(t *testing.T) {
	text, err := os.ReadFile("../Makefile")
	require.NoError(t, err)
	require.Contains(t, string(text), "\nexport GOFLAGS := "+strings.Join(platform.CompilerFlags(), " ")+"\n")
	require.Contains(t, string(text), " -o bin/"+platform.ControlBinary("$(1)")+" ")
}
