package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/localcloud/applications"
	"github.com/emr-observatory/emr-observatory/localcloud/doctor"
	"github.com/emr-observatory/emr-observatory/localcloud/servers"
	"github.com/emr-observatory/emr-observatory/platform"
)

// tools are what the local cloud is run with.
type tools struct {
	servers      map[string]string
	applications string
	javaHome     string
}

// buildsAtOnce fill the cores: while one downloads its modules or links, which
// is one thread, the other compiles.
const buildsAtOnce = 2

// ready builds and fetches whatever is not in the caches: servers, EMR's
// applications and the node artifacts. It tells all that failed.
func ready(ctx context.Context, p *progress, architectures []string) (tools, error) {
	t := tools{servers: map[string]string{}}
	var err error
	if t.javaHome, err = doctor.JDK(); err != nil {
		return t, err
	}
	list, err := servers.List()
	if err != nil {
		return t, err
	}
	paths, errs := make([]string, len(list)), make([]error, len(list)+2)
	var fetch, builds errgroup.Group
	fetch.Go(func() error { // it waits for the network
		t.applications, errs[len(list)] = applications.Fetch(ctx, p.part)
		return nil
	})
	builds.SetLimit(buildsAtOnce)
	builds.Go(func() error { // the longest first
		errs[len(list)+1] = fulfil(ctx, p.part, architectures)
		return nil
	})
	for i, s := range list {
		builds.Go(func() error {
			paths[i], errs[i] = servers.Build(ctx, s.Name, p.part)
			return nil
		})
	}
	_ = builds.Wait() // faults are in errs, all of them
	_ = fetch.Wait()
	for i, s := range list {
		t.servers[s.Name] = paths[i]
	}
	return t, errors.Join(errs...)
}

// fulfil makes the artifacts for nodes of the given architectures, each told.
func fulfil(ctx context.Context, told artifacts.Progress, architectures []string) error {
	store, err := artifacts.DefaultStore()
	if err != nil {
		return err
	}
	wanted, err := artifacts.LockedFor(architectures)
	if err != nil {
		return err
	}
	return artifacts.Fulfil(ctx, store, told, artifacts.Names(wanted)...)
}

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
			t, err := ready(cmd.Context(), newProgress(cmd.OutOrStdout()), platform.Architectures())
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), "applications:", t.applications)
			}
			return err
		},
	}
	c.Flags().StringVar(&name, "path", "", "print the path of one server's binary instead")
	return c
}

func artifactsCommand() *cobra.Command {
	var lock bool
	c := &cobra.Command{
		Use: "artifacts", Args: cobra.NoArgs,
		Short: "Build and fetch what goes on nodes, as assets/node/artifacts.lock.json says",
		Long: "Fulfils assets/node/artifacts.lock.json: every artifact is built or fetched, its sha256 is compared with the lock,\n" +
			"and it is kept in the artifact store. `pulumi up` finds it there.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := newProgress(cmd.OutOrStdout())
			if !lock {
				return fulfil(cmd.Context(), p.part, platform.Architectures())
			}
			store, err := artifacts.DefaultStore()
			if err != nil {
				return err
			}
			dir, err := projectDir()
			if err != nil {
				return err
			}
			return artifacts.Relock(cmd.Context(), store, filepath.Join(dir, "assets/node/artifacts.lock.json"), p.part)
		},
	}
	c.Flags().BoolVar(&lock, "relock", false, "build anew and write the lock file")
	return c
}
