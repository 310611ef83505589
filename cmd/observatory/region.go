package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/localcloud"
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

func setenv(env map[string]string) error {
	for k, v := range env {
		if err := os.Setenv(k, v); err != nil {
			return err
		}
	}
	return nil
}
