package stacks

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/components/telemetry"
	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// BinaryEnv and ProfilerBinaryEnv name the files that LoadMaterials takes as the
// control node's binaries; unset, they are those that the Makefile builds in the folder
// bin below the project.
const (
	BinaryEnv         = "OBSERVATORY_BINARY"          // platform.BinaryControl
	ProfilerBinaryEnv = "OBSERVATORY_PROFILER_BINARY" // platform.BinaryProfiler
)

// Materials are the files and dashboards that the program deploys.
type Materials struct {
	Artifacts      []telemetry.Staged // what the bootstrap action installs
	LauncherJar    telemetry.Staged
	ControlBinary  telemetry.Staged
	ProfilerBinary telemetry.Staged // the zero value if the configuration has no profiler
	Dashboards     []dashboards.Dashboard
}

// LoadMaterials finds the materials on this machine: the locked artifacts of a build
// that the configuration's EMR nodes need, verified, in the artifact store, and the
// control node's binaries below root. The error names everything that is missing, with
// the command that builds it.
func LoadMaterials(root string, cfg schema.Config, build artifacts.Build) (Materials, error) {
	var m Materials
	var errs []error
	suite, err := dashboards.Suite()
	if err != nil {
		errs = append(errs, fmt.Errorf("render dashboards: %w", err))
	}
	m.Dashboards = suite
	if m.ControlBinary, err = ownBinary(root, platform.BinaryControl, cfg.ControlNode.Arch, BinaryEnv); err != nil {
		errs = append(errs, err)
	}
	if cfg.Profiler.Enabled {
		if m.ProfilerBinary, err = ownBinary(root, platform.BinaryProfiler, cfg.ControlNode.Arch, ProfilerBinaryEnv); err != nil {
			errs = append(errs, err)
		}
	}
	store, err := artifacts.DefaultStore()
	if err != nil {
		return m, errors.Join(append(errs, fmt.Errorf("open artifact store: %w", err))...)
	}
	locked, err := artifacts.LockedFor(build, cfg.Architectures)
	if err != nil {
		return m, errors.Join(append(errs, fmt.Errorf("read artifact lock: %w", err))...)
	}
	for _, a := range locked {
		file, err := store.Path(a)
		if err != nil {
			errs = append(errs, fmt.Errorf("find artifact %s: %w", a.Name, err))
			continue
		}
		staged := telemetry.Staged{Name: a.Name, Arch: a.Arch, SHA256: a.SHA256, Path: file}
		if a.Name == path.Base(platform.NodeLauncherJar) {
			m.LauncherJar = staged
			continue
		}
		m.Artifacts = append(m.Artifacts, staged)
	}
	return m, errors.Join(errs...)
}

func ownBinary(root string, binary platform.Binary, arch, env string) (telemetry.Staged, error) {
	name := binary.File(arch)
	file := os.Getenv(env)
	if file == "" {
		file = filepath.Join(root, "bin", name)
	}
	sum, _, err := artifacts.Sum(file)
	if err != nil {
		return telemetry.Staged{}, fmt.Errorf("find the control node's %s: %w; run `make artifacts`, or name the file in %s", binary, err, env)
	}
	return telemetry.Staged{Name: name, Arch: arch, SHA256: sum, Path: file}, nil
}
