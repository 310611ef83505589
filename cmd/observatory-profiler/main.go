// Command observatory-profiler reads the Spark history of clusters into tables, and
// answers questions about it. It needs nothing of the rest of this project: it is one
// static binary. `observatory profile` has the same commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/plaintext"
	"github.com/emr-observatory/emr-observatory/profiler/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	root := &cobra.Command{Use: "observatory-profiler", SilenceUsage: true, SilenceErrors: true}
	stderr := plaintext.ForTerminal(os.Stderr)
	root.SetOut(plaintext.ForTerminal(os.Stdout))
	root.SetErr(stderr)
	command.AddTo(root)
	os.Exit(command.Exit(stderr, root.Name(), root.ExecuteContext(ctx)))
}
