package main

import (
	"fmt"
	"log/slog"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/tempowal"
)

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
