package phases_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/platform"
)

// installNode writes what the bootstrap action installs for a node's JVMs, at its
// real paths: the artifacts that are for every architecture, and the node's facts.
func installNode() error {
	locked, err := artifacts.Locked(artifacts.Development)
	if err != nil {
		return err
	}
	store, err := artifacts.DefaultStore()
	if err != nil {
		return err
	}
	facts := platform.FactControl + "=127.0.0.2\n"
	for _, label := range platform.HostLabels() {
		facts += string(label) + "=suite\n"
	}
	if err := os.MkdirAll(filepath.Dir(platform.NodeFactsFile), 0o755); err != nil {
		return err
	}
	errs := []error{os.WriteFile(platform.NodeFactsFile, []byte(facts), 0o644)}
	for _, part := range platform.NodeParts() {
		if part.PerArchitecture {
			continue
		}
		i := slices.IndexFunc(locked, func(a artifacts.Artifact) bool { return a.Name == part.Artifact("") })
		if i < 0 {
			errs = append(errs, fmt.Errorf("artifact %s: not in the lock file", part.Artifact("")))
			continue
		}
		errs = append(errs, installArtifact(store, locked[i], part.Path))
	}
	return errors.Join(errs...)
}

func installArtifact(store artifacts.Store, a artifacts.Artifact, target string) error {
	file, err := store.Path(a)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(target, content, 0o644)
}
