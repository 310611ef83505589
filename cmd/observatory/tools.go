package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/artifacts"
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
	c.AddCommand(toolsConfigCommand())
	return c
}

func artifactsCommand() *cobra.Command {
	var relock bool
	c := &cobra.Command{
		Use: "artifacts [--relock [NAME…]]",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && !relock {
				return fmt.Errorf("names of artifacts (%s): only with --relock", strings.Join(args, " "))
			}
			return nil
		},
		Short: "Build or fetch what nodes on AWS install, as pinned in assets/node/artifacts.lock.json",
		Long: "Builds or fetches what nodes on AWS install, with the collector fully optimised, compares each sha256 with\n" +
			"assets/node/artifacts.lock.json, and keeps the files in the artifact store, where `pulumi up` finds them. The local\n" +
			"cloud's nodes install a build that takes less time (`observatory tools`).",
		RunE: func(cmd *cobra.Command, names []string) error {
			log := progress.New(cmd.OutOrStdout())
			if !relock {
				return local.FetchArtifacts(cmd.Context(), log.Step, artifacts.Release, platform.Architectures())
			}
			project, err := projectDir()
			if err != nil {
				return err
			}
			return local.RelockArtifacts(cmd.Context(), project, log.Step, names...)
		},
	}
	c.Flags().BoolVar(&relock, "relock", false, "rebuild everything (or what is named), in both builds, and write the lock file")
	return c
}
