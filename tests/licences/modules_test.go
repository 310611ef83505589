package licences_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/licensecheck"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/assets/node"
)

// module is a Go module of which programs contain packages.
type module struct {
	name, version string
	licences      []string // SPDX identifiers, of the module's and of its packages' texts
	notice        bool     // it has a NOTICE, which goes with its copies
	in            []string // programs
	seen          map[string]bool
}

var (
	licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[sc]es?|copying)([-._].*)?$`)
	noticeFile  = regexp.MustCompile(`(?i)^notice([-._].*)?$`)
)

// recognised is how much of a text must be a licence, in percent: some have the names of
// their authors in between.
const recognised = 80

// read adds what the files say in a package's folder, and in those above it up to the
// module's.
func (m *module) read(t *testing.T, folder, root string) {
	t.Helper()
	for ; !m.seen[folder]; folder = filepath.Dir(folder) {
		if m.seen == nil {
			m.seen = map[string]bool{}
		}
		m.seen[folder] = true
		entries, err := os.ReadDir(folder)
		require.NoError(t, err)
		for _, entry := range entries {
			name := entry.Name()
			m.notice = m.notice || noticeFile.MatchString(name)
			if entry.IsDir() || strings.HasSuffix(name, ".go") || !licenceFile.MatchString(name) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(folder, name))
			require.NoError(t, err)
			found := licensecheck.Scan(text)
			require.Greater(t, found.Percent, float64(recognised), "%s/%s", folder, name)
			m.licences = append(m.licences, identifiers(found)...)
		}
		if folder == root {
			break
		}
	}
	slices.Sort(m.licences)
	m.licences = slices.Compact(m.licences)
}

func identifiers(found licensecheck.Coverage) (ids []string) {
	for _, match := range found.Match {
		ids = append(ids, match.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

var (
	mutex sync.Mutex
	known = map[string][]module{}
)

// once computes what several tests need.
func once(name string, compute func() []module) []module {
	mutex.Lock()
	defer mutex.Unlock()
	if _, ok := known[name]; !ok {
		known[name] = compute()
	}
	return known[name]
}

// programs returns the modules in the programs of cmd and in the Pulumi program.
func programs(t *testing.T) []module {
	t.Helper()
	return once("programs", func() []module {
		mains, err := filepath.Glob(filepath.Join(repository, "cmd", "*"))
		require.NoError(t, err)
		require.Greater(t, len(mains), 2)
		modules := map[string]*module{}
		for _, main := range append(mains, repository) {
			name := filepath.Base(main)
			if main == repository {
				name = "Pulumi program"
			}
			contents(t, main, name, modules)
		}
		return sorted(modules)
	})
}

// collector returns the modules in the nodes' collector.
func collector(t *testing.T) []module {
	t.Helper()
	return once("collector", func() []module {
		sources, err := node.CollectorSources()
		require.NoError(t, err)
		dir := t.TempDir()
		for name, text := range sources {
			if path.Dir(name) != "." {
				continue // a patch of a module, which keeps the module's licence
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, path.Base(name)), text, 0o600))
		}
		modules := map[string]*module{}
		contents(t, dir, "collector", modules, "-tags=remove_all_sd")
		return sorted(modules)
	})
}

func sorted(modules map[string]*module) (list []module) {
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		list = append(list, *modules[name])
	}
	return list
}

// contents adds the modules of the packages that the program in a folder links.
func contents(t *testing.T, folder, program string, modules map[string]*module, flags ...string) {
	t.Helper()
	args := append([]string{"list", "-deps", "-json=Dir,Standard,Module"}, flags...)
	decoder := json.NewDecoder(bytes.NewReader(run(t.Context(), t, folder, "go", append(args, ".")...)))
	for {
		var p struct {
			Dir      string
			Standard bool
			Module   struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		if p.Standard || p.Module.Main {
			continue
		}
		m := modules[p.Module.Path]
		if m == nil {
			m = &module{name: p.Module.Path, version: p.Module.Version}
			modules[p.Module.Path] = m
		}
		if !slices.Contains(m.in, program) {
			m.in = append(m.in, program)
		}
		m.read(t, p.Dir, p.Module.Dir)
	}
}

// run returns the output of a command that sees this project's programs as nodes do.
func run(ctx context.Context, t *testing.T, dir, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOWORK=off")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(t, err, "%s", errs.String())
	return out
}
