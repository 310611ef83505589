package main

import (
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/progress"
)

func downCommand(s *settings) *cobra.Command {
	return &cobra.Command{
		Use: "down", Args: cobra.NoArgs,
		Short: "Destroy the stack on the local cloud, stop the cloud and remove its state",
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := s.platform()
			if err != nil {
				return err
			}
			log := progress.New(cmd.OutOrStdout())
			stop := sayInterrupted(cmd.Context(), log)
			err = p.Down(cmd.Context(), log)
			stop()
			if err != nil && cmd.Context().Err() != nil {
				return s.interrupted(err, p.State, nil)
			}
			return err
		},
	}
}
