package main

import (
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/profiler/command"
)

// profileCommand has the commands of observatory-profiler.
func profileCommand() *cobra.Command {
	c := &cobra.Command{Use: "profile"}
	command.AddTo(c)
	return c
}
