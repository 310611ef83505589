package node

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Installed is an artifact that the bootstrap action downloads.
type Installed struct {
	Name   string // file name in the artifacts folder, one of platform.Artifact*
	Arch   string // platform.ArchAMD64, platform.ArchARM64, or "" for any
	SHA256 string // lower-case hex of the file's content
}

// BootstrapInput is what the script depends on, beside platform's constants.
type BootstrapInput struct {
	Artifacts   []Installed // the profiler, and a collector for at least one architecture
	LauncherJar []byte      // travels inside the script
}

// EMR limits no script's size; this keeps the launcher small, as promised to
// every JVM that loads it.
const maxLauncherBytes = 48 << 10

var hexSHA256 = regexp.MustCompile(`^[0-9a-f]{64}$`)

// machines maps platform's architectures to the names that uname -m gives.
func machines() map[string]string {
	return map[string]string{platform.ArchAMD64: "x86_64", platform.ArchARM64: "aarch64"}
}

// collectorArtifact is a collector for the machines that uname -m names so.
type collectorArtifact struct {
	Machine string
	Installed
}

// parts are the artifacts sorted by what installs them.
type parts struct {
	profiler   Installed
	collectors []collectorArtifact
}

// Bootstrap renders the bootstrap action and the SHA-256 (hex) of its bytes,
// which is to be its last argument: EMR runs an edited script on new clusters
// only, and Pulumi replaces a cluster for changed arguments alone. The error
// names every artifact that is missing or malformed.
//
// Arguments of the script: the control node's private IP, the artifacts folder
// ("s3://bucket/artifacts/"), the hash.
func Bootstrap(in BootstrapInput) (script []byte, hash string, err error) {
	p, err := in.parts()
	if err != nil {
		return nil, "", fmt.Errorf("render bootstrap action: %w", err)
	}
	config, err := CollectorConfig()
	if err != nil {
		return nil, "", err
	}
	unit, err := CollectorUnit()
	if err != nil {
		return nil, "", err
	}
	script, err = render("bootstrap.sh", newFacts().with(facts{
		"LauncherBase64":  wrapped(base64.StdEncoding.EncodeToString(in.LauncherJar)),
		"LauncherSHA256":  sum(in.LauncherJar),
		"CollectorConfig": string(config),
		"CollectorUnit":   string(unit),
		"Components":      componentNames(),
		"Profiler":        p.profiler,
		"Collectors":      p.collectors,
	}))
	if err != nil {
		return nil, "", err
	}
	return script, sum(script), nil
}

func (in BootstrapInput) parts() (parts, error) {
	var p parts
	var faults []error
	for _, a := range in.Artifacts {
		if !hexSHA256.MatchString(a.SHA256) {
			faults = append(faults, fmt.Errorf("artifact %s: sha256 %q is not 64 lower-case hex digits: run `make artifacts`", a.Name, a.SHA256))
		}
		switch {
		case a.Name == platform.ArtifactProfiler:
			p.profiler = a
		case machines()[a.Arch] != "" && a.Name == platform.ArtifactCollector(a.Arch):
			p.collectors = append(p.collectors, collectorArtifact{Machine: machines()[a.Arch], Installed: a})
		case a.Name != platform.ArtifactLauncher:
			faults = append(faults, fmt.Errorf("artifact %s (arch %q): nothing on a node is installed from it", a.Name, a.Arch))
		}
	}
	// The order of the input must not change the hash.
	slices.SortFunc(p.collectors, func(a, b collectorArtifact) int { return strings.Compare(a.Name, b.Name) })
	faults = append(faults, p.missing()...)
	switch n := len(in.LauncherJar); {
	case !bytes.HasPrefix(in.LauncherJar, []byte("PK\x03\x04")):
		faults = append(faults, fmt.Errorf("launcher jar: %d bytes that are no zip archive: run `make artifacts`", n))
	case n > maxLauncherBytes:
		faults = append(faults, fmt.Errorf("launcher jar: %d bytes, more than the %d that fit the script", n, maxLauncherBytes))
	}
	return p, errors.Join(faults...)
}

// missing names the artifacts that the input did not hold.
func (p parts) missing() []error {
	var faults []error
	for _, part := range []struct {
		name  string
		found bool
	}{
		{platform.ArtifactProfiler, p.profiler.Name != ""},
		{platform.ArtifactCollector(platform.ArchAMD64) + " or " + platform.ArtifactCollector(platform.ArchARM64), len(p.collectors) > 0},
	} {
		if !part.found {
			faults = append(faults, fmt.Errorf("artifact %s: missing: run `make artifacts`", part.name))
		}
	}
	return faults
}

// componentNames are the parts as the words of a shell loop.
func componentNames() string {
	var names []string
	for _, c := range platform.NodeComponents() {
		names = append(names, string(c))
	}
	return strings.Join(names, " ")
}

func sum(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}

// wrapped breaks text into lines of 76 characters, as RFC 2045 asks.
func wrapped(text string) string {
	var out strings.Builder
	for len(text) > 76 {
		out.WriteString(text[:76] + "\n")
		text = text[76:]
	}
	out.WriteString(text + "\n")
	return out.String()
}
