package phases_test

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/platform"
)

// installNode writes what the bootstrap action installs for a node's JVMs, at its
// real paths: the artifacts that are for every architecture, and the node's facts.
func installNode() error {
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
	files := map[string]string{}
	for _, part := range platform.NodeParts() {
		if !part.PerArchitecture {
			files[part.Artifact("")] = part.Path
		}
	}
	return errors.Join(os.WriteFile(platform.NodeFactsFile, []byte(facts), 0o644), store.Install(files))
}
