package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/profiler/command"
)

// profileCommand has the commands of observatory-profiler.
func profileCommand() *cobra.Command {
	c := &cobra.Command{Use: "profile"}
	command.AddTo(c)
	for _, below := range c.Commands() { // their help names the program that is the profiler alone
		below.Example = strings.ReplaceAll(below.Example, "observatory-profiler ", "observatory profile ")
	}
	return c
}
