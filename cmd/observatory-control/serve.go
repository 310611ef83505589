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
	headerPatience = 5 * time.Second
	closePatience  = 5 * time.Second // who has no answer then asks again
)

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
			return serve(cmd.Context(), address, status.Handler(config))
		},
	}
	c.Flags().StringVar(&file, "config", "/etc/observatory/status.json", "what to report on (JSON)")
	c.Flags().StringVar(&address, "listen", fmt.Sprintf(":%d", platform.Status), "address to listen on")
	return c
}

// serve answers on an address (host:port) until ctx ends, and then lets the
// requests that it has taken finish.
func serve(ctx context.Context, address string, handler http.Handler) error {
	server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: headerPatience}
	ended := make(chan error, 1)
	go func() { ended <- server.ListenAndServe() }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", address, err)
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closePatience)
	defer cancel()
	err := server.Shutdown(closing)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("end the server on %s: %w", address, err)
	}
	return nil
}
