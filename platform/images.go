package platform

// Image is a container image pinned by version and, where it can be
// established, by digest.
type Image struct {
	Repository string // docker.io/grafana/tempo
	Tag        string // never "latest"
	Digest     string // sha256:… of the index of all architectures, or empty: docs/decisions/0008-image-digests.md
}

// Ref is the reference that a pod spec names.
func (i Image) Ref() string {
	if i.Digest != "" {
		return i.Repository + ":" + i.Tag + "@" + i.Digest
	}
	return i.Repository + ":" + i.Tag
}

// Images pins every image of the control node. The local cloud runs the same
// versions, built from their Go modules; a test compares the two.
//
//nolint:gochecknoglobals // one table, read-only
var Images = map[Workload]Image{
	WorkloadCollector:       {Repository: "docker.io/otel/opentelemetry-collector-contrib", Tag: "0.149.0"},
	WorkloadVictoriaMetrics: {Repository: "docker.io/victoriametrics/victoria-metrics", Tag: "v1.150.0"},
	WorkloadVictoriaLogs:    {Repository: "docker.io/victoriametrics/victoria-logs", Tag: "v1.43.1"},
	WorkloadTempo:           {Repository: "docker.io/grafana/tempo", Tag: "2.9.0"},
	WorkloadPyroscope:       {Repository: "docker.io/grafana/pyroscope", Tag: "1.21.1"},
	WorkloadYACE:            {Repository: "quay.io/prometheuscommunity/yet-another-cloudwatch-exporter", Tag: "v0.67.0"},
	WorkloadGrafana:         {Repository: "docker.io/grafana/grafana", Tag: "12.2.0"},
	WorkloadStatus:          imageOwn,
	WorkloadRedelivery:      imageOwn,
}

// imageOwn is what the project's own binary runs in, which is in no image.
//
//nolint:gochecknoglobals // a pin
var imageOwn = Image{Repository: "public.ecr.aws/amazonlinux/amazonlinux", Tag: "2023.9.20251027.0-minimal"}

// ImageAWSCLI fetches that binary from the artifacts prefix.
//
//nolint:gochecknoglobals // a pin
var ImageAWSCLI = Image{Repository: "public.ecr.aws/aws-cli/aws-cli", Tag: "2.31.0"}
