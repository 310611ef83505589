package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func rehearseCommand(*settings) *cobra.Command {
	return &cobra.Command{Use: "rehearse", Hidden: true, RunE: func(*cobra.Command, []string) error {
		return fmt.Errorf("not wired to the command line yet: run `go test ./stacks -run TestLifeOfTheStack`")
	}}
}
