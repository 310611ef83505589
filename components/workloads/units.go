package workloads

import (
	"errors"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Users that the images know. Most servers need none of their own.
const (
	userServer  = 10001 // Tempo's, Pyroscope's and the collector's image
	userGrafana = 472   // Grafana's image
)

// Volumes in GiB. The node's provisioner does not enforce them: the servers'
// own limits and retentions do.
const (
	diskCollector = 10
	diskMetrics   = 50
	diskLogs      = 50
	diskS3Store   = 10 // write-ahead logs and blocks on their way to S3
	diskGrafana   = 2
)

// units are the workloads in the order of platform's constants.
func (b *builder) units(a access) ([]unit, error) {
	collector, err1 := unit{workload: platform.WorkloadCollector, daemon: true, user: userServer, disk: gibibytes(diskCollector), ports: []port{
		{"otlp-grpc", platform.OTLPGRPC, true}, {"otlp-http", platform.OTLPHTTP, true},
		{"metrics", platform.CollectorMetrics, false}, {"health", platform.CollectorHealth, false},
	}}.configured(workloadconfig.Collector())
	metrics, err2 := unit{workload: platform.WorkloadVictoriaMetrics, user: userServer, disk: gibibytes(diskMetrics), ports: []port{
		{"http", platform.VictoriaMetrics, false},
	}}.configured(workloadconfig.VictoriaMetrics(b.args.metricsRetention()))
	logs, err3 := unit{workload: platform.WorkloadVictoriaLogs, user: userServer, disk: gibibytes(diskLogs), ports: []port{
		{"http", platform.VictoriaLogs, false},
	}}.configured(workloadconfig.VictoriaLogs(b.args.logsRetention(), b.args.DataVolumeGiB))
	tempo, err4 := unit{workload: platform.WorkloadTempo, role: true, user: userServer, disk: gibibytes(diskS3Store), ports: []port{
		{"http", platform.Tempo, false}, {"otlp-http", platform.TempoOTLPHTTP, false},
	}}.configured(workloadconfig.Tempo(b.args.TempoRetention))
	pyroscope, err5 := unit{workload: platform.WorkloadPyroscope, role: true, user: userServer, disk: gibibytes(diskS3Store), ports: []port{
		{"http", platform.Pyroscope, true},
	}}.configured(workloadconfig.Pyroscope(b.args.PyroscopeRetention))
	grafana, err6 := b.grafana(a)
	redelivery, err7 := b.redelivery()
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7); err != nil {
		return nil, err
	}
	return []unit{collector, metrics, logs, tempo, pyroscope, b.yace(), grafana, b.status(a), redelivery}, nil
}

// yace searches by the tags that the stack's provider puts on everything.
func (b *builder) yace() unit {
	tags := map[string]string{platform.TagProject: platform.Project, platform.TagStack: b.ctx.Stack()}
	u := unit{workload: platform.WorkloadYACE, role: true, user: userServer, ports: []port{{"http", platform.YACE, false}}}
	u.args = workloadconfig.YACEArgs()
	u.files = pulumi.StringMap{workloadconfig.YACEFile: b.args.Region.ToStringOutput().ApplyT(func(region string) (string, error) {
		return workloadconfig.YACE(region, tags)
	}).(pulumi.StringOutput)}
	return u
}

func (b *builder) grafana(a access) (unit, error) {
	u, err := unit{workload: platform.WorkloadGrafana, user: userGrafana, disk: gibibytes(diskGrafana), ports: []port{
		{"https", platform.Grafana, true},
	}, hash: a.hash}.configured(workloadconfig.Grafana(), nil)
	u.env = append(u.env, fromSecret(workloadconfig.EnvGrafanaPassword, a.secret, keyPassword))
	u.mount("tls", workloadconfig.GrafanaTLSDir, true, secretVolume(a.secret, workloadconfig.GrafanaCertificate, workloadconfig.GrafanaKey))
	return u, err
}

func (b *builder) redelivery() (unit, error) {
	return b.own(unit{workload: platform.WorkloadRedelivery, ports: []port{{"http", platform.Redelivery, false}}}).
		configured(workloadconfig.Redelivery(), nil)
}

// apply errors name the file they are about.
func wrap(file string, err error) error {
	if err != nil {
		return fmt.Errorf("render %s: %w", file, err)
	}
	return nil
}
