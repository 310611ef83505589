package platform_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

func images() map[string]platform.Image {
	out := map[string]platform.Image{"aws-cli": platform.ImageAWSCLI()}
	for _, r := range platform.Workloads() {
		out[string(r.Name)] = r.Image
	}
	return out
}

// The rules are those of an OCI reference (distribution/reference): containerd
// fills in neither registry nor path, and does not check a digest's format.
func TestImagesArePinned(t *testing.T) {
	repository := regexp.MustCompile(`^[a-z0-9.-]+\.[a-z]+(/[a-z0-9]+([._-][a-z0-9]+)*){2,}$`)
	tag := regexp.MustCompile(`^v?\d+\.\d+[\w.-]*$`)
	digest := regexp.MustCompile(`^(sha256:[0-9a-f]{64})?$`)
	seen := map[string]string{}
	for name, image := range images() {
		require.Regexp(t, repository, image.Repository, name)
		require.Regexp(t, tag, image.Tag, "%s: only a version tag is immutable", name)
		require.Regexp(t, digest, image.Digest,
			"%s: sha256: and 64 hexadecimal digits, of the index of all architectures; see docs/decisions/0005-image-digests.md", name)
		if image.Digest != "" {
			require.Empty(t, seen[image.Digest], "%s has the digest of another image", name)
			seen[image.Digest] = name
		}
	}
}

func TestRefIncludesTheDigest(t *testing.T) {
	image := platform.Image{Repository: "docker.io/grafana/tempo", Tag: "2.9.0"}
	require.Equal(t, "docker.io/grafana/tempo:2.9.0", image.Ref())
	image.Digest = "sha256:" + strings.Repeat("0a", 32)
	require.Equal(t, "docker.io/grafana/tempo:2.9.0@"+image.Digest, image.Ref())
}
