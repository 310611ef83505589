package workloads

import (
	"encoding/json"
	"fmt"
	"path"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

const statusFile = "status.json"

func (b *builder) status(a access) unit {
	const authorityDir = "/etc/observatory-ca"
	u := b.own(unit{workload: platform.WorkloadStatus, ports: []port{{"http", platform.Status, true}}})
	u.args = []string{"serve", "--config", path.Join(workloadconfig.ConfigDir, statusFile)}
	u.files = pulumi.StringMap{statusFile: b.statusConfig()}
	// Grafana's certificate is the only one it has to trust.
	u.env = append(u.env, literal("SSL_CERT_FILE", pulumi.String(path.Join(authorityDir, keyAuthority))))
	u.mount("ca", authorityDir, true, secretVolume(a.secret, keyAuthority))
	return u
}

// statusConfig is what the status server reports and whom it asks.
func (b *builder) statusConfig() pulumi.StringOutput {
	return pulumi.All(b.args.Bucket, b.args.ControlPrivateIP).ApplyT(func(v []any) (string, error) {
		return renderStatus(v[0].(string), v[1].(string))
	}).(pulumi.StringOutput)
}

func renderStatus(bucket, ip string) (string, error) {
	config := status.Config{S3Paths: platform.NewS3Paths(bucket), Endpoints: map[platform.Workload]status.Endpoint{}, Control: status.Control{
		PrivateIP: ip, OTLP: fmt.Sprintf("%s:%d", ip, platform.OTLPGRPC),
		GrafanaURL: workloadconfig.URLAt(ip, platform.WorkloadGrafana), StatusURL: workloadconfig.URLAt(ip, platform.WorkloadStatus),
	}}
	ready := workloadconfig.ReadyURLs()
	for workload, url := range workloadconfig.URLs() {
		config.Endpoints[workload] = status.Endpoint{URL: url, ReadyURL: ready[workload]}
	}
	if err := config.Validate(); err != nil {
		return "", wrap(statusFile, err)
	}
	out, err := json.MarshalIndent(config, "", "  ")
	return string(out), wrap(statusFile, err)
}
