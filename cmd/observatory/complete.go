package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// completeNames lets a shell complete the names of stacks and clusters below a command, from
// files alone: it must answer before the next key.
func (s *settings) completeNames(c *cobra.Command) {
	for name, complete := range map[string]func() []string{"stack": stackNames, "cluster": s.clusterKeys} {
		if c.LocalFlags().Lookup(name) == nil {
			continue
		}
		answer := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return complete(), cobra.ShellCompDirectiveNoFileComp
		}
		_ = c.RegisterFlagCompletionFunc(name, answer) // fails only for an unknown flag, or a second time
	}
	for _, below := range c.Commands() {
		if below.Name() != "profile" { // its clusters are those of any account
			s.completeNames(below)
		}
	}
}

// stackNames lists the stacks that the checkout has files of; none outside of one.
func stackNames() []string {
	project, err := projectDir()
	if err != nil {
		return nil
	}
	return config.StackNames(project)
}

// clusterKeys lists the clusters that the stack's file configures and an update starts; none if it has errors.
func (s *settings) clusterKeys() []string {
	project, err := projectDir()
	if err != nil {
		return nil
	}
	_, cfg, err := config.ReadStackFile(project, s.stack)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(cfg.ClusterKeys(), func(key string) bool { return cfg.Clusters[key].OfSchedules() })
}
