// Command observatory-control is this project's program on the control node, where
// it is installed as `observatory`: the status server, the redelivery between
// collector and stores, and the repair before Tempo starts. It is separate from the
// CLI, which Pulumi and the AWS SDK make ten times as large: every control node
// downloads this binary, and every update of a stack hashes it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{
		Use: "observatory", Short: "What the control node runs of emr-observatory",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.AddCommand(serveCommand(), redeliverCommand(), tempoCommand())
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
