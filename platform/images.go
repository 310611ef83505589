package platform

// Image is a container image pinned by version and, where it can be
// established, by digest.
type Image struct {
	Repository string // docker.io/grafana/tempo
	Tag        string // never "latest"
	Digest     string // sha256:… of the index of all architectures, or empty: docs/decisions/0005-image-digests.md
}

// Ref returns the reference that a pod spec names.
func (i Image) Ref() string {
	if i.Digest != "" {
		return i.Repository + ":" + i.Tag + "@" + i.Digest
	}
	return i.Repository + ":" + i.Tag
}
