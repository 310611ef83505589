package workloads

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
	"github.com/emr-observatory/emr-observatory/status"
)

// Args configure the servers. Validate checks the plain values.
type Args struct {
	Region     pulumi.StringInput // required
	Bucket     pulumi.StringInput // required: the data bucket
	S3Endpoint string             // "" = AWS; else http(s)://host[:port] of an S3-compatible gateway

	ControlPrivateIP pulumi.StringInput // required: where nodes reach the control node
	ControlHost      pulumi.StringInput // required: the host under which operators and the program reach it
	GrafanaURL       string             // "" = on ControlHost; else where operators and the program reach Grafana

	// Certificate is served by Grafana and the status server; its domain replaces
	// ControlHost. nil = the program's own CA signs one for each of them.
	Certificate *schema.Certificate

	BootstrapHash       pulumi.StringInput // required: of what the bootstrap action installs
	ControlBinaryURI    pulumi.StringInput // required: s3:// URI of the observatory binary
	ControlBinarySHA256 pulumi.StringInput // required: its checksum, in hex

	Profiler             schema.Profiler    // what it reads; the zero value: there is none
	ProfilerBinaryURI    pulumi.StringInput // required with the profiler: s3:// URI of its binary
	ProfilerBinarySHA256 pulumi.StringInput // required with the profiler: its checksum, in hex
	ToolsRoleARN         pulumi.StringInput // required with the profiler: of the role with which the tools read its tables

	Schedules   map[string]schema.Schedule // of the stack, by key
	LostRunsURL pulumi.StringInput         // required with schedules: of the queue of their runs that did not start

	TempoRetention     time.Duration // required, whole hours
	PyroscopeRetention time.Duration // required, whole hours
	MetricsRetention   time.Duration // required, whole days
	LogsRetention      time.Duration // required, whole days

	Limits schema.Limits // required: of each cluster

	DataVolumeGiB int // required: the size of the volume with the servers' folders

	GrafanaPluginURL string // of the zip file of Grafana's plugin; "" = grafana.com has it

	Tracing schema.Tracing // which steps have spans, and where a copy of all spans goes
}

// Validate reports every violation of the plain values at once.
func (a *Args) Validate() error {
	if a == nil {
		return errors.New("workloads: arguments are nil; pass *workloads.Args")
	}
	var l violation.List
	for path, set := range map[string]bool{
		"workloads.region": a.Region != nil, "workloads.bucket": a.Bucket != nil,
		"workloads.controlPrivateIp": a.ControlPrivateIP != nil, "workloads.controlHost": a.ControlHost != nil,
		"workloads.controlBinaryUri": a.ControlBinaryURI != nil, "workloads.controlBinarySha256": a.ControlBinarySHA256 != nil,
		"workloads.bootstrapHash":        a.BootstrapHash != nil,
		"workloads.profilerBinaryUri":    a.ProfilerBinaryURI != nil || !a.Profiler.Enabled,
		"workloads.profilerBinarySha256": a.ProfilerBinarySHA256 != nil || !a.Profiler.Enabled,
		"workloads.toolsRoleArn":         a.ToolsRoleARN != nil || !a.Profiler.Enabled,
		"workloads.lostRunsUrl":          a.LostRunsURL != nil || len(a.Schedules) == 0,
	} {
		l.Require(set, path, nil, "must be set", "pass the output of the component that makes it")
	}
	l.Require(platform.ValidDataVolume(a.DataVolumeGiB), "workloads.dataVolumeGiB", a.DataVolumeGiB, platform.DataVolumeRule(),
		"give the size of the control node's data volume")
	for path, d := range map[string]time.Duration{
		"workloads.tempoRetention": a.TempoRetention, "workloads.pyroscopeRetention": a.PyroscopeRetention,
	} {
		l.Require(d >= time.Hour && d%time.Hour == 0, path, d.String(), "must be one hour or more, in whole hours", "give a multiple of an hour")
	}
	const oneDay = 24 * time.Hour // the least that VictoriaMetrics and VictoriaLogs accept
	for path, d := range map[string]time.Duration{
		"workloads.metricsRetention": a.MetricsRetention, "workloads.logsRetention": a.LogsRetention,
	} {
		l.Require(d >= oneDay && d%oneDay == 0, path, d.String(), "must be one day or more, in whole days", "give a multiple of 24h")
	}
	a.Limits.Validate(&l, "workloads.limits")
	a.Certificate.Validate(&l, "workloads.certificate", time.Now())
	if a.Tracing.Enabled {
		a.Tracing.Validate(&l, "workloads.tracing")
	}
	if a.Profiler.Enabled {
		a.Profiler.Validate(&l, "workloads.profiler")
	}
	if a.S3Endpoint != "" {
		_, err := parseEndpoint(a.S3Endpoint)
		l.Require(err == nil, "workloads.s3Endpoint", a.S3Endpoint, "must be http(s)://host[:port]",
			"leave out path, query and credentials, or leave it empty for AWS")
	}
	return l.Err()
}

// settings returns what the servers' configuration depends on.
func (a *Args) settings(workloads platform.WorkloadTable, stack string) (workloadconfig.Settings, error) {
	predefined, err := dashboards.Predefined()
	return workloadconfig.Settings{
		Workloads:        workloads,
		MetricsRetention: a.MetricsRetention, LogsRetention: a.LogsRetention,
		TempoRetention: a.TempoRetention, PyroscopeRetention: a.PyroscopeRetention,
		DataVolumeGiB: a.DataVolumeGiB,
		Limits:        a.Limits,
		Tracing:       a.Tracing,
		Profiler:      a.Profiler,
		Schedules:     a.Schedules,
		Stack:         stack,
		Tags:          platform.StackTags(stack), // the stack's AWS provider puts these on every resource
		Dashboards:    predefined, Boards: statusLinks(dashboards.Links()), StepLinks: statusLinks(dashboards.StepLinks()),
		ServerName:    a.serverName(),
		GrafanaPlugin: a.GrafanaPluginURL,
	}, err
}

// enabled returns the servers without those that the configuration switches off.
func (a *Args) enabled(servers []workloadconfig.Server) []workloadconfig.Server {
	return slices.DeleteFunc(slices.Clone(servers), func(s workloadconfig.Server) bool {
		return s.OwnBinary == platform.BinaryProfiler && !a.Profiler.Enabled
	})
}

// binary returns where one of the project's own binaries is.
func (a *Args) binary(name platform.Binary) binarySource {
	if name == platform.BinaryProfiler {
		return binarySource{uri: a.ProfilerBinaryURI, sha256: a.ProfilerBinarySHA256}
	}
	return binarySource{uri: a.ControlBinaryURI, sha256: a.ControlBinarySHA256}
}

// statusLinks converts targets to the status page's links.
func statusLinks(targets []links.Target) []status.Link {
	out := make([]status.Link, 0, len(targets))
	for _, target := range targets {
		out = append(out, status.Link(target))
	}
	return out
}

func parseEndpoint(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, err
	}
	bare := url.URL{Scheme: u.Scheme, Host: u.Host}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || *u != bare {
		return nil, fmt.Errorf("%q has more than scheme, host and port", s)
	}
	return u, nil
}
