package node

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Installed is an artifact that the bootstrap action installs.
type Installed struct {
	Name   string // file name in the artifacts folder, as platform.NodePart.Artifact gives it
	Arch   string // platform.ArchAMD64, platform.ArchARM64, or "" for any
	SHA256 string // lower-case hex of the file's content
}

// BootstrapInput is what the script depends on, besides the parts' records.
type BootstrapInput struct {
	Artifacts   []Installed // of every part that is not embedded, for one architecture at least
	LauncherJar []byte      // the embedded part
}

// maxLauncherBytes keeps the script small: every node fetches it, and every JVM opens the
// jar. EMR does not limit the size of a script. What only Spark drivers and executors with
// the plugin need belongs into the jar of the plugin, which is downloaded.
const maxLauncherBytes = 80 << 10

// Bootstrap renders the bootstrap action and the SHA-256 (hex) of its bytes,
// which must be one of its arguments: EMR runs an edited script on new clusters only,
// and Pulumi replaces a cluster only if arguments change. The error names every
// artifact that is missing or malformed.
//
// Arguments of the script: the control node's private IP, the artifacts folder
// ("s3://bucket/artifacts/"), the hash; for a cluster that reports its hosts only,
// platform.BootstrapHostsOnly.
func Bootstrap(in BootstrapInput) (script []byte, hash string, err error) {
	return bootstrapWith(Parts(), in)
}

// bootstrapWith is like Bootstrap, for the given parts, so that tests can add some.
func bootstrapWith(parts []Part, in BootstrapInput) (content []byte, hash string, err error) {
	installed, err := in.byPart(nodeParts(parts))
	if err != nil {
		return nil, "", fmt.Errorf("render bootstrap action: %w", err)
	}
	s, err := newScript(parts, installed)
	if err != nil {
		return nil, "", fmt.Errorf("render bootstrap action: %w", err)
	}
	content, err = render("bootstrap.sh", newFacts().with(facts{
		"LauncherBase64": wrapLines(base64.StdEncoding.EncodeToString(in.LauncherJar)),
		"LauncherSHA256": sha256Hex(in.LauncherJar),
		"Script":         s,
	}))
	if err != nil {
		return nil, "", err
	}
	return content, sha256Hex(content), nil
}

// byPart groups the artifacts by part and architecture. The error names every
// artifact that is missing, unknown or malformed.
func (in BootstrapInput) byPart(parts []platform.NodePart) (map[platform.NodeComponent]map[string]Installed, error) {
	found := map[platform.NodeComponent]map[string]Installed{}
	var errs []error
	for _, a := range in.Artifacts {
		if !platform.IsSHA256(a.SHA256) {
			errs = append(errs, fmt.Errorf("artifact %s: sha256 %q is not 64 lower-case hex digits: run `make artifacts`", a.Name, a.SHA256))
		}
		part, arch, err := platform.FindArtifact(parts, a.Name)
		switch {
		case err != nil:
			errs = append(errs, err)
		case arch != a.Arch:
			errs = append(errs, fmt.Errorf("artifact %s: architecture is %q, not %q: run `make artifacts`", a.Name, arch, a.Arch))
		case found[part.Component] == nil:
			found[part.Component] = map[string]Installed{arch: a}
		default:
			found[part.Component][arch] = a
		}
	}
	for _, p := range parts {
		if p.Embedded && p.Component != platform.ComponentLauncher {
			errs = append(errs, fmt.Errorf("part %s: embedded, and bootstrap.sh embeds the launcher only", p.Component))
		}
		if !p.Embedded && len(found[p.Component]) == 0 {
			errs = append(errs, fmt.Errorf("artifact %s: missing: run `make artifacts`", strings.Join(artifactNames(p), " or ")))
		}
	}
	errs = append(errs, checkLauncher(in.LauncherJar))
	return found, errors.Join(errs...)
}

func artifactNames(p platform.NodePart) []string {
	var names []string
	for _, arch := range p.Architectures() {
		names = append(names, p.Artifact(arch))
	}
	return names
}

// checkLauncher rejects files that are not jars or too large to embed.
func checkLauncher(jar []byte) error {
	switch n := len(jar); {
	case !bytes.HasPrefix(jar, []byte("PK\x03\x04")):
		return fmt.Errorf("launcher jar: %d bytes that are not a zip archive: run `make artifacts`", n)
	case n > maxLauncherBytes:
		return fmt.Errorf("launcher jar: %d bytes, more than the %d that fit the script", n, maxLauncherBytes)
	}
	return nil
}

func sha256Hex(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}

// wrapLines breaks text into lines of 76 characters (RFC 2045).
func wrapLines(text string) string {
	var out strings.Builder
	for len(text) > 76 {
		out.WriteString(text[:76] + "\n")
		text = text[76:]
	}
	out.WriteString(text + "\n")
	return out.String()
}
