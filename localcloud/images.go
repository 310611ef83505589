package localcloud

import (
	"github.com/emr-observatory/emr-observatory/localcloud/kube"
	"github.com/emr-observatory/emr-observatory/platform"
)

// images maps image repositories to what the local cloud runs instead of the image:
// a server built from the same module, if there is one.
func (c *cloud) images() map[string]kube.Image {
	images := map[string]kube.Image{platform.ImageAWSCLI().Repository: {Entrypoint: []string{"aws"}}}
	for _, w := range platform.Workloads() {
		image := kube.Image{}
		if binary, built := c.Servers[string(w.Name)]; built {
			image = kube.Image{Binary: binary, Entrypoint: []string{w.Executable}}
		}
		switch w.Name {
		case platform.WorkloadCollector:
			image.Cmd = []string{"--config", "/etc/otelcol-contrib/config.yaml"}
		case platform.WorkloadGrafana:
			image = c.Grafana.image()
		case platform.WorkloadYACE:
			image.Absent = "the local cloud has no CloudWatch"
		}
		images[w.Image.Repository] = image
	}
	return images
}
