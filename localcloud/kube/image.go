package kube

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
)

// Image is what the local cloud runs instead of a container image.
type Image struct {
	Binary     string            // on the host; empty for an image that only has a shell
	Entrypoint []string          // of the image; its first word is where Binary appears
	Cmd        []string          // of the image
	Binds      []machine.Bind    // of the host, read by the image's program
	Env        map[string]string // over the container's
	Absent     string            // why it cannot run here; its workload is only recorded
	StandIn    string            // host that the node ports of an absent workload lead to; empty: they are closed
}

// image returns what runs for an image reference.
func (r *Runner) image(ref string) (Image, error) {
	repository := ref
	if i := strings.Index(repository, "@"); i >= 0 {
		repository = repository[:i]
	}
	if i := strings.LastIndex(repository, ":"); i > strings.LastIndex(repository, "/") {
		repository = repository[:i]
	}
	img, ok := r.Images[repository]
	if !ok {
		known := strings.Join(slices.Sorted(maps.Keys(r.Images)), ", ")
		return Image{}, fmt.Errorf("image %s: the local cloud has no program for it; it knows %s", ref, known)
	}
	return img, nil
}
