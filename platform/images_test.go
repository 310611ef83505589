package platform_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

func images() map[string]platform.Image {
	out := map[string]platform.Image{"aws-cli": platform.ImageAWSCLI}
	for workload, image := range platform.Images {
		out[string(workload)] = image
	}
	return out
}

// The rules are those of an OCI reference (distribution/reference): containerd
// fills in neither a registry nor a path, and takes a digest as it stands.
func TestImagesArePinned(t *testing.T) {
	repository := regexp.MustCompile(`^[a-z0-9.-]+\.[a-z]+(/[a-z0-9]+([._-][a-z0-9]+)*){2,}$`)
	tag := regexp.MustCompile(`^v?\d+\.\d+[\w.-]*$`)
	digest := regexp.MustCompile(`^(sha256:[0-9a-f]{64})?$`)
	seen := map[string]string{}
	for name, image := range images() {
		require.Regexp(t, repository, image.Repository, name)
		require.Regexp(t, tag, image.Tag, "%s: a tag that is no version moves", name)
		require.Regexp(t, digest, image.Digest, "%s: sha256: and 64 hexadecimal digits, of the index that names every architecture; see docs/decisions/0008-image-digests.md", name)
		if image.Digest != "" {
			require.Empty(t, seen[image.Digest], "%s has the digest of another image", name)
			seen[image.Digest] = name
		}
	}
}

func TestRefNamesTheDigestWhereThereIsOne(t *testing.T) {
	image := platform.Image{Repository: "docker.io/grafana/tempo", Tag: "2.9.0"}
	require.Equal(t, "docker.io/grafana/tempo:2.9.0", image.Ref())
	image.Digest = "sha256:" + strings.Repeat("0a", 32)
	require.Equal(t, "docker.io/grafana/tempo:2.9.0@"+image.Digest, image.Ref())
}
