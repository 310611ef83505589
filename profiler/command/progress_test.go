package command_test

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/emr-observatory/emr-observatory/profiler/run"
)

// terminal returns both ends of a pseudo-terminal: what a program writes to, and what is shown.
func terminal(t *testing.T) (program, shown *os.File) {
	t.Helper()
	shown, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = shown.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(shown.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(shown.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 25, Col: 100}))
	return program, shown
}

// A terminal shows bars that end at the totals, below the run's lines.
func TestBarsOnATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	program, shown := terminal(t)
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(shown) // an error ends it: the program's end is closed
		text <- string(all)
	}()
	code := executeIn(t.Context(), io.Discard, program, "run", "--logs", readable(t), "--output", t.TempDir())
	require.Equal(t, run.ExitComplete, code)
	require.NoError(t, program.Close())
	got := <-text
	require.Contains(t, got, "team-a: 1 of 1 applications read")
	for _, bar := range []string{`clusters +1 of 1`, `applications +1 of 1`, `\x1b\[`} {
		require.Regexp(t, bar, got)
	}
}
