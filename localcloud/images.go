package localcloud

import "github.com/emr-observatory/emr-observatory/localcloud/kube"

// images maps image repositories to the programs built from the same modules.
func (c *cloud) images() map[string]kube.Image {
	return map[string]kube.Image{
		"docker.io/otel/opentelemetry-collector-contrib":              {Binary: c.Servers["collector"], Entrypoint: []string{"/otelcol-contrib"}, Cmd: []string{"--config", "/etc/otelcol-contrib/config.yaml"}},
		"docker.io/victoriametrics/victoria-metrics":                  {Binary: c.Servers["victoria-metrics"], Entrypoint: []string{"/victoria-metrics-prod"}},
		"docker.io/victoriametrics/victoria-logs":                     {Binary: c.Servers["victoria-logs"], Entrypoint: []string{"/victoria-logs-prod"}},
		"docker.io/grafana/tempo":                                     {Binary: c.Servers["tempo"], Entrypoint: []string{"/tempo"}},
		"docker.io/grafana/pyroscope":                                 {Binary: c.Servers["pyroscope"], Entrypoint: []string{"/usr/bin/pyroscope"}},
		"docker.io/grafana/grafana":                                   grafanaImage(),
		"public.ecr.aws/amazonlinux/amazonlinux":                      {},
		"public.ecr.aws/aws-cli/aws-cli":                              {Entrypoint: []string{"aws"}},
		"quay.io/prometheuscommunity/yet-another-cloudwatch-exporter": {Absent: "CloudWatch is not to be had locally"},
	}
}

func grafanaImage() kube.Image {
	return kube.Image{Absent: "the Grafana server comes from no package registry; dashboards are checked by `observatory dashboards check`"}
}
