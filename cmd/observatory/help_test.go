package main

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// runRoot runs the program in this process and returns what it prints.
func runRoot(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	command := rootCommand()
	command.SetOut(&out)
	command.SetErr(&bytes.Buffer{})
	command.SetArgs(args)
	require.NoError(t, command.ExecuteContext(t.Context()))
	return out.String()
}

func TestVersion(t *testing.T) {
	require.Regexp(t, `^observatory version .* \(go1\..*, \w+/\w+\)\n$`, runRoot(t, "--version"))
}

// A shell completes what files tell.
func TestNamesAreCompleted(t *testing.T) {
	for want, args := range map[string][]string{
		"dev\nlocal\npr\n:4\n": {"rehearse", "--stack", ""},
		"main\n:4\n":           {"step", "cancel", "--cluster", ""},
		":4\n":                 {"--stack", "absent", "submit", "--cluster", ""},
	} {
		require.Equal(t, want, runRoot(t, append([]string{"__complete"}, args...)...))
	}
}

// Help names this program, and in place of a flag's value its kind: one word.
func TestHelpOfEveryCommand(t *testing.T) {
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		require.NotContains(t, c.Example, "observatory-profiler", c.CommandPath())
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			kind, _ := pflag.UnquoteUsage(f)
			require.NotContains(t, kind, " ", "%s --%s", c.CommandPath(), f.Name)
		})
		for _, below := range c.Commands() {
			check(below)
		}
	}
	check(rootCommand())
}
