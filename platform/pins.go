package platform

import (
	"cmp"
	"net/url"
)

// CPU architectures, written as Go, Debian and OCI write them.
const (
	ArchAMD64 = "amd64"
	ArchARM64 = "arm64"
)

// Architectures lists them.
func Architectures() []string { return []string{ArchAMD64, ArchARM64} }

// Download is a file of a release, pinned by content.
type Download struct {
	File   string // name among the release's files
	SHA256 string // lower-case hex
}

// K3sVersion is the control node's Kubernetes. The sums below are for this version:
// change all of them together.
const K3sVersion = "v1.36.4+k3s1"

// K3sBinaries returns the K3s executables by architecture. Sums are from the
// release's sha256sum-amd64.txt and sha256sum-arm64.txt.
func K3sBinaries() map[string]Download {
	return map[string]Download{
		ArchAMD64: {File: "k3s", SHA256: "835873f37245fc615f547a2fe2af9402a347875f13fa64a1f136de644955ea3f"},
		ArchARM64: {File: "k3s-arm64", SHA256: "c920706346d5ad4e5cd3c7bf1bb09ce71ebe07fec829e513e40f1caf98aed8bb"},
	}
}

// K3sReleases holds a folder for each version of K3s.
const K3sReleases = "https://github.com/k3s-io/k3s/releases/download"

// K3sRelease returns the URL of K3sVersion's files, with a trailing slash, below releases:
// a copy of K3sReleases, or "" for K3sReleases itself. The
// version's plus sign must be escaped, or GitHub answers 404.
func K3sRelease(releases string) string {
	return cmp.Or(releases, K3sReleases) + "/" + url.QueryEscape(K3sVersion) + "/"
}

// MinPulumiVersion is the oldest Pulumi CLI that may run the program. An older engine
// ignores the replacement trigger of a cluster in silence, and updates what has to be
// replaced. Triggers came with 3.208.0, the call with which a program requires a version
// with 3.217.0, and with 3.219.0 the key of Pulumi.yaml that refuses before the program
// starts (pulumi/pulumi: pkg/resource/deploy/step_generator.go, proto/pulumi/engine.proto,
// sdk/go/common/workspace/project.go of those tags).
const MinPulumiVersion = "3.219.0"

// PulumiVersions returns the range of MinPulumiVersion, as the CLI reads it
// (github.com/blang/semver, ParseRange).
func PulumiVersions() string { return ">=" + MinPulumiVersion }
