package workloadconfig

import (
	"encoding/json"
	"fmt"
	"path"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// StatusFile is the status server's configuration in ConfigDir.
const StatusFile = "status.json"

// Status configures `observatory serve`, which reports on every workload. The
// only certificate that it has to trust is Grafana's.
func Status(_ platform.WorkloadRecord, s Settings) (Config, error) {
	const caDir = "/etc/observatory-ca"
	return Config{
		Args: []string{"serve", "--config", path.Join(ConfigDir, StatusFile)},
		Env:  map[string]string{"SSL_CERT_FILE": path.Join(caDir, GrafanaCACert)},
		LateFiles: map[string]LateFile{StatusFile: {
			Needs: []Fact{FactBucket, FactControlIP},
			Render: func(f map[Fact]string) (string, error) {
				return renderStatus(s.Workloads, f[FactBucket], f[FactControlIP])
			},
		}},
		SecretFiles: []SecretFiles{{Secret: SecretGrafana, Volume: "ca", Dir: caDir, Keys: []string{GrafanaCACert}}},
	}, nil
}

func renderStatus(workloads platform.WorkloadTable, bucket, ip string) (string, error) {
	grafana, err := workloads.Get(platform.WorkloadGrafana)
	if err != nil {
		return "", err
	}
	server, err := workloads.Get(platform.WorkloadStatus)
	if err != nil {
		return "", err
	}
	config := status.Config{
		S3Paths:   platform.NewS3Paths(bucket),
		Endpoints: map[platform.Workload]status.Endpoint{},
		Control: status.Control{
			PrivateIP: ip, OTLP: fmt.Sprintf("%s:%d", ip, platform.OTLPGRPC), GrafanaURL: grafana.URLAt(ip), StatusURL: server.URLAt(ip),
		},
	}
	for _, w := range workloads {
		config.Endpoints[w.Name] = status.Endpoint{URL: w.URL(), ReadyURL: w.ReadyURL()}
	}
	if err := config.Validate(); err != nil {
		return "", fmt.Errorf("check %s: %w", StatusFile, err)
	}
	out, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return "", fmt.Errorf("render %s: %w", StatusFile, err)
	}
	return string(out), nil
}
