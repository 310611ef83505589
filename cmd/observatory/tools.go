package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

func toolsCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use: "tools", Args: cobra.NoArgs,
		Short: "Build and fetch what the local cloud runs (kept in a cache)",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name != "" {
				path, err := servers.Find(cmd.Context(), name)
				if err == nil {
					fmt.Fprintln(cmd.OutOrStdout(), path)
				}
				return err
			}
			t, err := local.BuildTools(cmd.Context(), progress.New(cmd.OutOrStdout()), platform.Architectures())
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), "applications:", t.Applications)
			}
			return err
		},
	}
	c.Flags().StringVar(&name, "path", "", "print the path of one server's binary instead")
	return c
}

func artifactsCommand() *cobra.Command {
	var relock bool
	c := &cobra.Command{
		Use: "artifacts", Args: cobra.NoArgs,
		Short: "Build or fetch the node artifacts pinned in assets/node/artifacts.lock.json",
		Long: "Builds or fetches every artifact of assets/node/artifacts.lock.json, compares its sha256 with the lock file, and keeps it\n" +
			"in the artifact store, where `pulumi up` finds it.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			log := progress.New(cmd.OutOrStdout())
			if !relock {
				return local.FetchArtifacts(cmd.Context(), log.Step, platform.Architectures())
			}
			project, err := projectDir()
			if err != nil {
				return err
			}
			return local.RelockArtifacts(cmd.Context(), project, log.Step)
		},
	}
	c.Flags().BoolVar(&relock, "relock", false, "rebuild everything and write the lock file")
	return c
}
