package workloads

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/fault"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Retentions of the stores on the node's own disk where Args names none.
const (
	DefaultMetricsRetention = 30 * 24 * time.Hour
	DefaultLogsRetention    = 14 * 24 * time.Hour
)

// Args says what the servers work with. Validate checks the plain values.
type Args struct {
	Region     pulumi.StringInput // required
	Bucket     pulumi.StringInput // required: the data bucket
	S3Endpoint string             // "" = AWS; else http(s)://host[:port] of an S3-compatible gateway

	ControlPrivateIP pulumi.StringInput // required: where operators and nodes reach the control node

	ControlBinaryURI    pulumi.StringInput // required: s3:// URI of the observatory binary
	ControlBinarySHA256 pulumi.StringInput // required: its checksum, in hex

	TempoRetention     time.Duration // required, whole hours
	PyroscopeRetention time.Duration // required, whole hours
	MetricsRetention   time.Duration // 0 = DefaultMetricsRetention; whole days
	LogsRetention      time.Duration // 0 = DefaultLogsRetention; whole days

	DataVolumeGiB int    // required: the size of the volume that holds the servers' folders
	StorageClass  string // "" = the cluster's default
}

// Validate reports every fault of the plain values; it registers nothing.
func (a *Args) Validate() error {
	if a == nil {
		return errors.New("workloads: no arguments; give Args")
	}
	var l fault.List
	for path, set := range map[string]bool{
		"workloads.region": a.Region != nil, "workloads.bucket": a.Bucket != nil,
		"workloads.controlPrivateIp": a.ControlPrivateIP != nil, "workloads.controlBinaryUri": a.ControlBinaryURI != nil,
		"workloads.controlBinarySha256": a.ControlBinarySHA256 != nil,
	} {
		l.Unless(set, path, nil, "must be set", "pass the output of the component that makes it")
	}
	l.Unless(platform.ValidDataVolume(a.DataVolumeGiB), "workloads.dataVolumeGiB", a.DataVolumeGiB, platform.DataVolumeRule(), "give the size of the control node's data volume")
	for path, d := range map[string]time.Duration{"workloads.tempoRetention": a.TempoRetention, "workloads.pyroscopeRetention": a.PyroscopeRetention} {
		l.Unless(d >= time.Hour && d%time.Hour == 0, path, d.String(), "must be one hour or more, in whole hours", "give a multiple of an hour")
	}
	const oneDay = 24 * time.Hour // the least that VictoriaMetrics and VictoriaLogs accept
	for path, d := range map[string]time.Duration{"workloads.metricsRetention": a.MetricsRetention, "workloads.logsRetention": a.LogsRetention} {
		l.Unless(d >= 0 && d%oneDay == 0, path, d.String(), "must be whole days", "give a multiple of 24h, or 0 for the default")
	}
	if a.S3Endpoint != "" {
		_, err := parseEndpoint(a.S3Endpoint)
		l.Unless(err == nil, "workloads.s3Endpoint", a.S3Endpoint, "must be http(s)://host[:port]", "leave path, query and credentials out, or leave it empty for AWS")
	}
	return l.Join()
}

func (a *Args) metricsRetention() time.Duration {
	if a.MetricsRetention == 0 {
		return DefaultMetricsRetention
	}
	return a.MetricsRetention
}

func (a *Args) logsRetention() time.Duration {
	if a.LogsRetention == 0 {
		return DefaultLogsRetention
	}
	return a.LogsRetention
}

func parseEndpoint(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, err
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.Path != "" || u.RawQuery != "" || u.User != nil || u.Fragment != "" {
		return nil, fmt.Errorf("%q is no bare endpoint", s)
	}
	return u, nil
}
