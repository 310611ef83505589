package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
	"github.com/emr-observatory/emr-observatory/toolchain/doctor"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// Tools are what the local cloud runs.
type Tools struct {
	Servers      map[string]string // binary by name
	Applications string            // folder of EMR's applications
	JavaHome     string
	Grafana      localcloud.GrafanaServer // of this machine
}

// maxBuilds is how many builds run at once. Two keep two cores busy: while one
// downloads modules or links, which uses one thread, the other compiles.
const maxBuilds = 2

// BuildTools builds and fetches whatever the caches lack: servers, EMR's
// applications and the node artifacts. Grafana is none of them: the one on PATH, if any,
// is taken. It reports all failures.
func BuildTools(ctx context.Context, log *progress.Log, architectures []string) (Tools, error) {
	t := Tools{Servers: map[string]string{}}
	var err error
	if t.JavaHome, err = doctor.JDK(); err != nil {
		return t, fmt.Errorf("find the JDK: %w", err)
	}
	if t.Grafana, err = localcloud.FindGrafana(); err != nil {
		log.Printf("Grafana does not run: %v", err)
	}
	list, err := servers.List()
	if err != nil {
		return t, fmt.Errorf("list servers: %w", err)
	}
	paths, errs := make([]string, len(list)), make([]error, len(list)+2)
	var fetch, builds errgroup.Group
	fetch.Go(func() error { // outside the limit of builds: it mostly waits for the network
		t.Applications, errs[len(list)] = applications.Fetch(ctx, log.Step)
		return nil
	})
	builds.SetLimit(maxBuilds)
	builds.Go(func() error { // first, since it takes longest
		errs[len(list)+1] = FetchArtifacts(ctx, log.Step, artifacts.Development, architectures)
		return nil
	})
	for i, s := range list {
		builds.Go(func() error {
			paths[i], errs[i] = servers.Build(ctx, s.Name, log.Step)
			return nil
		})
	}
	_ = builds.Wait() // errs has every error, Wait only the first
	_ = fetch.Wait()
	for i, s := range list {
		t.Servers[s.Name] = paths[i]
	}
	return t, errors.Join(errs...)
}

// FetchArtifacts builds and fetches what nodes of these architectures install, in
// one build, into the artifact store.
func FetchArtifacts(ctx context.Context, step artifacts.Progress, build artifacts.Build, architectures []string) error {
	store, err := artifacts.DefaultStore()
	if err != nil {
		return fmt.Errorf("open the artifact store: %w", err)
	}
	locked, err := artifacts.LockedFor(build, architectures)
	if err != nil {
		return fmt.Errorf("read the artifacts' lock file: %w", err)
	}
	return artifacts.Ensure(ctx, store, build, step, artifacts.Names(locked)...)
}

// RelockArtifacts rebuilds every artifact in every build, or only those named, and
// writes the lock file.
func RelockArtifacts(ctx context.Context, project string, step artifacts.Progress, names ...string) error {
	store, err := artifacts.DefaultStore()
	if err != nil {
		return fmt.Errorf("open the artifact store: %w", err)
	}
	return artifacts.Relock(ctx, store, filepath.Join(project, "assets/node/artifacts.lock.json"), step, names...)
}
