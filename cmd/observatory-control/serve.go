package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

const (
	headerTimeout   = 5 * time.Second
	shutdownTimeout = 5 * time.Second // clients without an answer by then retry
)

func serveCommand() *cobra.Command {
	var file, address string
	c := &cobra.Command{
		Use: "serve", Args: cobra.NoArgs,
		Short: "Serve " + status.Path,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := status.LoadConfig(file)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), address, status.Handler(config))
		},
	}
	c.Flags().StringVar(&file, "config", "/etc/observatory/status.json", "what to report on (JSON)")
	c.Flags().StringVar(&address, "listen", fmt.Sprintf(":%d", platform.Status), "address to listen on")
	return c
}

// serve listens on an address (host:port) until ctx is done, then finishes the
// requests in progress.
func serve(ctx context.Context, address string, handler http.Handler) error {
	server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: headerTimeout}
	served := make(chan error, 1)
	go func() { served <- server.ListenAndServe() }()
	select {
	case err := <-served:
		return fmt.Errorf("serve on %s: %w", address, err)
	case <-ctx.Done():
	}
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err := server.Shutdown(shutdown)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	if stopped := <-served; !errors.Is(stopped, http.ErrServerClosed) {
		err = errors.Join(err, stopped)
	}
	if err != nil {
		return fmt.Errorf("shut down server on %s: %w", address, err)
	}
	return nil
}
