// Command observatory runs the platform on the local cloud and works with it,
// local or on AWS: up, down, rehearse, status, submit, dashboards, serve.
package main

import (
	"context"
	"errors"
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
		Use:           "observatory",
		Short:         "An EMR Spark platform that explains itself",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	var s settings
	root.PersistentFlags().StringVar(&s.state, "state", "", "folder of the local cloud (default .state below the project)")
	root.PersistentFlags().StringVarP(&s.stack, "stack", "s", "local", "stack: Pulumi.<stack>.yaml")
	root.AddCommand(upCommand(&s), downCommand(&s), statusCommand(&s), submitCommand(&s), dashboardsCommand(&s),
		rehearseCommand(&s), pulumiCommand(&s), artifactsCommand(), toolsCommand(), serveCommand(), regionCommand())
	if err := root.ExecuteContext(ctx); err != nil {
		var code exitCode
		if errors.As(err, &code) {
			os.Exit(int(code))
		}
		fmt.Fprintln(os.Stderr, "observatory:", err)
		os.Exit(1)
	}
}

// exitCode ends the program with a code and without a message.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }
