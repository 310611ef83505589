package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/status"
)

// regionCommand is the local cloud's own process; `up` starts it.
func regionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "region OPTIONS", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			var o localcloud.Options
			if err := json.Unmarshal(raw, &o); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return localcloud.Serve(cmd.Context(), o)
		},
	}
}

func serveCommand() *cobra.Command {
	var file, address string
	c := &cobra.Command{
		Use: "serve", Args: cobra.NoArgs,
		Short: "Answer /status on the control node",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := status.LoadConfig(file)
			if err != nil {
				return err
			}
			return status.Serve(cmd.Context(), cfg, address)
		},
	}
	c.Flags().StringVar(&file, "config", "/etc/observatory/status.json", "what to report on (JSON)")
	c.Flags().StringVar(&address, "listen", ":8080", "address to listen on")
	return c
}

func setenv(env map[string]string) error {
	for k, v := range env {
		if err := os.Setenv(k, v); err != nil {
			return err
		}
	}
	return nil
}
