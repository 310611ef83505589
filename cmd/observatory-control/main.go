// Command observatory-control is this project's part of the control node, where
// it is installed as `observatory`: the status server. It is not the CLI, whose
// Pulumi and AWS SDKs make it ten times as large: every control node downloads
// this binary, and every update of a stack hashes it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{
		Use: "observatory", Short: "What the control node runs of emr-observatory",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.AddCommand(serveCommand())
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func serveCommand() *cobra.Command {
	var file, address string
	c := &cobra.Command{
		Use: "serve", Args: cobra.NoArgs,
		Short: "Answer " + status.Path,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := status.LoadConfig(file)
			if err != nil {
				return err
			}
			return status.Serve(cmd.Context(), config, address)
		},
	}
	c.Flags().StringVar(&file, "config", "/etc/observatory/status.json", "what to report on (JSON)")
	c.Flags().StringVar(&address, "listen", fmt.Sprintf(":%d", platform.Status), "address to listen on")
	return c
}
