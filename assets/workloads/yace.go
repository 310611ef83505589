package workloadconfig

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/platform"
)

// YACEFile is the CloudWatch exporter's configuration in ConfigDir.
const YACEFile = "yace.yaml"

const (
	fiveMinutes = 300 // seconds
	day         = 86400
)

// The exporter's own keys (yet-another-cloudwatch-exporter v0.67.0,
// pkg/config/scrapeconf.go).
type (
	yaceConfig struct {
		APIVersion string        `json:"apiVersion"`
		Discovery  yaceDiscovery `json:"discovery"`
	}
	yaceDiscovery struct {
		ExportedTagsOnMetrics map[string][]string `json:"exportedTagsOnMetrics"`
		Jobs                  []yaceJob           `json:"jobs"`
	}
	yaceJob struct {
		Type       string       `json:"type"`
		Regions    []string     `json:"regions"`
		SearchTags []yaceTag    `json:"searchTags"`
		Period     int          `json:"period"` // seconds
		Length     int          `json:"length"`
		Metrics    []yaceMetric `json:"metrics"`
	}
	yaceTag struct {
		Key   string `json:"key"`
		Value string `json:"value"` // a regular expression
	}
	yaceMetric struct {
		Name       string   `json:"name"`
		Statistics []string `json:"statistics"`
	}
)

// YACE configures the CloudWatch exporter.
func YACE(r platform.WorkloadRecord, s Settings) (Config, error) {
	return Config{
		Args: []string{
			"--config.file=" + path.Join(ConfigDir, YACEFile),
			// The default listens on the container's loopback only.
			"--listen-address=" + listen(r.EndpointPort()),
			fmt.Sprintf("--scraping-interval=%d", fiveMinutes),
			"--log.format=json",
		},
		LateFiles: map[string]LateFile{YACEFile: {
			Needs:  []Fact{FactRegion},
			Render: func(f map[Fact]string) (string, error) { return renderYACE(f[FactRegion], s.Tags) },
		}},
	}, nil
}

// renderYACE renders YACEFile. It queries CloudWatch for buckets, volumes,
// instances and OpenSearch domains of one region that carry all of the tags. EMR
// is not queried: the nodes' collectors report it in finer detail, without
// CloudWatch's price. EMR gives its instances and volumes the cluster's tags, so those of
// the control node are chosen by their names as well.
func renderYACE(region string, tags map[string]string) (string, error) {
	if len(tags) == 0 {
		return "", errors.New("yace: no tags to search by: it would read, and pay for, every resource of the account; give the stack's tags")
	}
	var search []yaceTag
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		search = append(search, yaceTag{k, "^" + regexp.QuoteMeta(tags[k]) + "$"})
	}
	job := func(search []yaceTag, kind string, period int, metrics ...yaceMetric) yaceJob {
		return yaceJob{Type: kind, Regions: []string{region}, SearchTags: search, Period: period, Length: 2 * period, Metrics: metrics}
	}
	control := append(slices.Clone(search), yaceTag{"Name", "^" + platform.ControlComponent + "-"})
	average, sum, maximum, minimum := []string{"Average"}, []string{"Sum"}, []string{"Maximum"}, []string{"Minimum"}
	name := []string{"Name"}
	body, err := yaml.Marshal(yaceConfig{
		APIVersion: "v1alpha1",
		Discovery: yaceDiscovery{
			ExportedTagsOnMetrics: map[string][]string{"AWS/S3": name, "AWS/EBS": name, "AWS/EC2": name, "AWS/ES": name},
			Jobs: []yaceJob{
				// S3 reports its storage once a day.
				job(search, "AWS/S3", day, yaceMetric{"BucketSizeBytes", average}, yaceMetric{"NumberOfObjects", average}),
				job(control, "AWS/EBS", fiveMinutes,
					yaceMetric{"VolumeReadBytes", sum}, yaceMetric{"VolumeWriteBytes", sum},
					yaceMetric{"VolumeReadOps", sum}, yaceMetric{"VolumeWriteOps", sum},
					yaceMetric{"VolumeQueueLength", average}, yaceMetric{"BurstBalance", minimum}),
				job(control, "AWS/EC2", fiveMinutes,
					yaceMetric{"CPUUtilization", average}, yaceMetric{"StatusCheckFailed", maximum},
					yaceMetric{"NetworkIn", sum}, yaceMetric{"NetworkOut", sum},
					yaceMetric{"EBSIOBalance%", minimum}, yaceMetric{"EBSByteBalance%", minimum}),
				// OpenSearch keeps the namespace of its former name.
				job(search, "AWS/ES", fiveMinutes,
					yaceMetric{"ClusterStatus.red", maximum}, yaceMetric{"CPUUtilization", maximum},
					yaceMetric{"JVMMemoryPressure", maximum}, yaceMetric{"FreeStorageSpace", minimum}),
			},
		},
	})
	if err != nil {
		return "", fmt.Errorf("marshal %s: %w", YACEFile, err)
	}
	return string(body), nil
}
