package platform

import (
	"slices"
	"strings"
)

// Image is a container image pinned by version and, where it can be
// established, by digest.
type Image struct {
	Repository string // docker.io/grafana/tempo
	Tag        string // never "latest"
	Digest     string // sha256:… of the index of all architectures, or empty: docs/decisions/0005-image-digests.md
}

// Registries returns the registries that the control node's images come from, sorted.
// K3s' own are on docker.io (k3s-io/k3s scripts/airgap/image-list.txt).
func Registries() []string {
	images := []Image{imageOwn(), ImageAWSCLI()}
	for _, r := range Workloads() {
		images = append(images, r.Image)
	}
	registries := []string{"docker.io"}
	for _, i := range images {
		registry, _, _ := strings.Cut(i.Repository, "/")
		registries = append(registries, registry)
	}
	slices.Sort(registries)
	return slices.Compact(registries)
}

// Ref returns the reference that a pod spec names.
func (i Image) Ref() string {
	if i.Digest != "" {
		return i.Repository + ":" + i.Tag + "@" + i.Digest
	}
	return i.Repository + ":" + i.Tag
}
