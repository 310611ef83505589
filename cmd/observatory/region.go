package main

import (
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/local"
)

// regionCommand returns the command that is the local cloud's own process; `up` starts it.
func regionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "region OPTIONS", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return local.Serve(cmd.Context(), args[0]) },
	}
}
