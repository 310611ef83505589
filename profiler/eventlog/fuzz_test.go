package eventlog_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// How long each target is fuzzed. An input that reaches something new is shortened in few
// tries: with whole logs as inputs that would otherwise take all the time.
const (
	fuzzTime    = 2 * time.Minute
	fuzzMinimal = "20x"
)

// checkedPointers compiles what reads logs through unsafe pointers so that it checks them.
func checkedPointers() []string {
	var flags []string
	for _, packages := range []string{
		".", "github.com/klauspost/compress/...", "github.com/mailru/easyjson/...", "github.com/pierrec/lz4/...",
	} {
		flags = append(flags, "-gcflags="+packages+"=-dwarf=false -l -d=checkptr")
	}
	return flags
}

// TestFuzz fuzzes every target of this package in turn. `make test` runs their seeds
// only. An input that fails is in testdata/fuzz afterwards: add what matters of it
// to the seeds.
func TestFuzz(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), os.Args[0], "-test.list=^Fuzz").CombinedOutput()
	require.NoError(t, err, "%s", out)
	targets := strings.Fields(string(out))
	require.NotEmpty(t, targets)
	if !testenv.Long() {
		t.Skip("make test-long fuzzes each target for minutes; each is also a test of its seeds")
	}
	for _, target := range targets {
		t.Run(target, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"test"}, platform.CompilerFlags(), checkedPointers(),
				[]string{"-run=^$", "-fuzz=^" + target + "$", "-fuzztime=" + fuzzTime.String(), "-fuzzminimizetime=" + fuzzMinimal})...)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			t.Log(lines[max(0, len(lines)-3)])
		})
	}
}
