// Command observatory-control is this project's program on the control node, where
// it is installed as `observatory`: the status server, the redelivery between
// collector and stores, and the repair before Tempo starts. It is separate from the
// CLI, which Pulumi and the AWS SDK make ten times as large: every control node
// downloads this binary, and every update of a stack hashes it.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/redelivery"
	"github.com/emr-observatory/emr-observatory/tempowal"
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

func redeliverCommand() *cobra.Command {
	var stores, limits []string
	var address, pyroscope, profilesAddress string
	c := &cobra.Command{
		Use: "redeliver", Args: cobra.NoArgs,
		Short: "Relay OTLP to stores, resend what a killed one had not yet written, and relay profiles from nodes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, nil)))
			r, err := redelivery.New(stores, limits)
			if err != nil {
				return fmt.Errorf("configure redelivery: %w", err)
			}
			profiles, err := r.ProfilesServer(profilesAddress, pyroscope)
			if err != nil {
				return fmt.Errorf("configure the relay of profiles: %w", err)
			}
			go r.Run(cmd.Context())
			servers, ctx := errgroup.WithContext(cmd.Context())
			servers.Go(func() error { return serve(ctx, profiles) })
			servers.Go(func() error {
				return serve(ctx, &http.Server{Addr: address, Handler: r.Handler(), ReadHeaderTimeout: headerTimeout})
			})
			return servers.Wait()
		},
	}
	c.Flags().StringArrayVar(&stores, "store", nil, "name=http://host:port of a store; POST /<name>/<path> goes to its /<path>")
	c.Flags().StringArrayVar(&limits, "limit", nil,
		"signal=number: what of a cluster's metrics (series), logs (bytes), traces (spans) or profiles is stored in an hour (default: all)")
	c.Flags().StringVar(&address, "listen", fmt.Sprintf(":%d", platform.Redelivery), "address to listen on")
	c.Flags().StringVar(&pyroscope, "profiles", "", "http://host:port of Pyroscope, which gets POST "+platform.ProfileIngestPath+" (required)")
	c.Flags().StringVar(&profilesAddress, "profiles-listen", fmt.Sprintf(":%d", platform.ProfileIntake), "address to listen on for profiles")
	_ = c.MarkFlagRequired("profiles") // fails only for a flag that does not exist
	return c
}

// tempoCommand repairs the log in the container's own process: an init container
// does not run again when the kubelet restarts a killed container in its pod.
func tempoCommand() *cobra.Command {
	var wal string
	c := &cobra.Command{
		Use: "tempo --wal DIR -- PROGRAM [ARGUMENTS]", Args: cobra.MinimumNArgs(1),
		Short: "Repair Tempo's write-ahead log, then become Tempo",
		RunE: func(cmd *cobra.Command, program []string) error {
			log := slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), nil))
			// Tempo would delete what is not repaired, so it does not start.
			if err := tempowal.Dir(wal).Repair(log); err != nil {
				return fmt.Errorf("repair %s: %w", wal, err)
			}
			if err := cmd.Context().Err(); err != nil {
				return fmt.Errorf("start %s: %w", program[0], err)
			}
			return fmt.Errorf("start %s: %w", program[0], syscall.Exec(program[0], program, os.Environ()))
		},
	}
	c.Flags().StringVar(&wal, "wal", "", "folder of Tempo's write-ahead log")
	_ = c.MarkFlagRequired("wal") // fails only for a flag that does not exist
	return c
}
