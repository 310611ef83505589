package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/redelivery"
)

func redeliverCommand() *cobra.Command {
	var stores []string
	var address string
	c := &cobra.Command{
		Use: "redeliver", Args: cobra.NoArgs,
		Short: "Relay OTLP to stores, and resend what a killed one had not yet written",
		RunE: func(cmd *cobra.Command, _ []string) error {
			slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, nil)))
			r, err := redelivery.New(stores)
			if err != nil {
				return fmt.Errorf("configure redelivery: %w", err)
			}
			go r.Run(cmd.Context())
			return serve(cmd.Context(), &http.Server{Addr: address, Handler: r.Handler(), ReadHeaderTimeout: headerTimeout})
		},
	}
	c.Flags().StringArrayVar(&stores, "store", nil, "name=http://host:port of a store; POST /<name>/<path> goes to its /<path>")
	c.Flags().StringVar(&address, "listen", fmt.Sprintf(":%d", platform.Redelivery), "address to listen on")
	return c
}
