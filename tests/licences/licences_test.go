// Package licences_test reads the licences of what this project's programs contain, from
// the texts that come with it, and writes docs/reference/third-party.md.
package licences_test

import (
	"archive/zip"
	"encoding/json"
	"encoding/xml"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/licensecheck"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

const (
	repository = "../.."
	own        = "Apache-2.0"
)

// strong are licences whose terms would reach the program that contains the module.
var strong = regexp.MustCompile(`GPL|SSPL|BUSL|Elastic|Commons-Clause|-NC`)

func TestOwnLicence(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository, "LICENSE"))
	require.NoError(t, err)
	found := licensecheck.Scan(text)
	require.Greater(t, found.Percent, 99.0)
	require.Equal(t, []string{own}, identifiers(found))
	poms, err := filepath.Glob(filepath.Join(repository, "assets/node/*/pom.xml"))
	require.NoError(t, err)
	require.Len(t, poms, 3)
	for _, pom := range poms {
		text, err := os.ReadFile(pom)
		require.NoError(t, err)
		require.Equal(t, []string{own}, licencesOfPOM(t, text), pom)
	}
}

// A module under the GPL or AGPL would put the program under it. Clients of Grafana,
// Tempo and Pyroscope have licences of their own: their texts decide, not their names.
func TestNoProgramIsUnderACopyleftLicence(t *testing.T) {
	for name, modules := range map[string][]module{"programs": programs(t), "collector": collector(t)} {
		require.Greater(t, len(modules), 100, name)
		for _, m := range modules {
			require.NotEmpty(t, m.licences, "%s: no text of a licence that licensecheck knows", m.name)
			for _, id := range m.licences {
				require.NotRegexp(t, strong, id, "%s, in %v", m.name, m.in)
			}
		}
	}
}

// The servers that are under the AGPL are recognised by the same means, and only built
// from modules of their own.
func TestServersUnderTheAGPL(t *testing.T) {
	for _, workload := range []platform.Workload{platform.WorkloadTempo, platform.WorkloadPyroscope} {
		s, err := servers.Get(string(workload))
		require.NoError(t, err)
		licences := downloaded(t, s.Module, s.Version).licences
		require.Contains(t, licences, "AGPL-3.0")
		require.Regexp(t, strong, strings.Join(licences, " "))
		for _, m := range slices.Concat(programs(t), collector(t)) {
			require.NotEqual(t, s.Module, m.name)
		}
	}
}

// The jars that are built here contain nothing of others.
func TestOwnJarsContainOnlyOwnClasses(t *testing.T) {
	for _, name := range []string{platform.ArtifactLauncher, platform.ArtifactPlugin, platform.ArtifactConnect} {
		classes := 0
		for _, file := range jar(t, name).File {
			if strings.HasSuffix(file.Name, "/") || strings.HasPrefix(file.Name, "META-INF/") {
				continue
			}
			require.Regexp(t, `^observatory/`, file.Name, name)
			classes++
		}
		require.Positive(t, classes, name)
	}
}

// jar opens an artifact of nodes.
func jar(t *testing.T, name string) *zip.ReadCloser {
	t.Helper()
	store, err := artifacts.DefaultStore()
	require.NoError(t, err)
	require.NoError(t, artifacts.Ensure(t.Context(), store, artifacts.Release, nil, name))
	locked, err := artifacts.Locked(artifacts.Release)
	require.NoError(t, err)
	i := slices.IndexFunc(locked, func(a artifacts.Artifact) bool { return a.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	file, err := store.Path(locked[i])
	require.NoError(t, err)
	open, err := zip.OpenReader(file)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, open.Close()) })
	return open
}

// licencesOfJar returns the licences of a release, by the metadata that Maven put into it.
func licencesOfJar(t *testing.T, name string) []string {
	t.Helper()
	open := jar(t, name)
	for _, file := range open.File {
		if matched, err := path.Match("META-INF/maven/*/*/pom.xml", file.Name); err != nil || !matched {
			continue
		}
		text, err := open.Open(file.Name)
		require.NoError(t, err)
		var pom pom
		require.NoError(t, xml.NewDecoder(text).Decode(&pom))
		return pom.Licences
	}
	require.FailNow(t, "no pom.xml in "+name)
	return nil
}

type pom struct {
	Licences []string `xml:"licenses>license>name"`
}

func licencesOfPOM(t *testing.T, text []byte) []string {
	t.Helper()
	var p pom
	require.NoError(t, xml.Unmarshal(text, &p))
	return p.Licences
}

// downloaded returns a module that is built as a program of its own.
func downloaded(t *testing.T, name, version string) module {
	t.Helper()
	out := run(t.Context(), t, t.TempDir(), "go", "mod", "download", "-json", name+"@"+version)
	var at struct{ Dir string }
	require.NoError(t, json.Unmarshal(out, &at))
	m := module{name: name, version: version}
	m.read(t, at.Dir, at.Dir)
	return m
}
