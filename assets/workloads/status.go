package workloadconfig

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/status"
)

// StatusFile is the status server's configuration in ConfigDir.
const StatusFile = "status.json"

// Status configures `observatory serve`, which reports on every workload and on the
// last steps, and records every step; it keeps which ones on its volume. It serves TLS, and
// trusts the certificates that the same CA signed, or the one certificate that all
// servers share.
func Status(r platform.WorkloadRecord, s Settings) (Config, error) {
	file := func(key string) string { return path.Join(accessDir, key) }
	args := []string{
		"serve", "--config", path.Join(ConfigDir, StatusFile), "--certificate", file(platform.AccessCertificate),
		"--key", file(platform.AccessKey), "--password-file", file(platform.AccessPassword),
		"--ca-certificate", file(platform.AccessCACert), "--data", DataDir,
	}
	if s.ServerName != "" {
		args = append(args, "--server-name", s.ServerName)
	}
	if ratio := s.Tracing.Ratio(); ratio != "" {
		args = append(args, "--sampling-ratio", ratio)
	}
	return Config{
		Args: args,
		LateFiles: map[string]LateFile{StatusFile: {
			Needs: []Fact{FactRegion, FactBucket, FactControlIP, FactGrafanaURL, FactStatusURL, FactBootstrapHash, FactLostRuns},
			Render: func(f map[Fact]string) (string, error) {
				return renderStatus(s, status.Config{
					Region: f[FactRegion], S3Paths: platform.NewS3Paths(f[FactBucket]), BootstrapHash: f[FactBootstrapHash],
					LostRuns: f[FactLostRuns],
					Control: status.Control{
						PrivateIP: f[FactControlIP], OTLP: fmt.Sprintf("%s:%d", f[FactControlIP], platform.OTLPGRPC),
						GrafanaURL: f[FactGrafanaURL], StatusURL: f[FactStatusURL],
					},
				})
			},
		}},
		SecretFiles: []SecretFiles{{Secret: platform.AccessSecret(r.Name), Volume: "access", Dir: accessDir, Keys: []string{
			platform.AccessCertificate, platform.AccessKey, platform.AccessPassword, platform.AccessCACert,
		}}},
	}, nil
}

// renderStatus writes the configuration, whose facts are given, with all that the
// settings say.
func renderStatus(s Settings, config status.Config) (string, error) {
	config.HistoryTags = s.Profiler.ClusterTags(s.Stack)
	config.Stack, config.Endpoints = s.Stack, map[platform.Workload]status.Endpoint{}
	config.Dashboards, config.StepLinks = s.Boards, s.StepLinks
	config.Schedules = schedules(s.Schedules)
	for _, w := range s.Workloads {
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

// schedules returns the stack's schedules in the order of their keys; nil without any.
func schedules(byKey map[string]schema.Schedule) []status.ScheduleConfig {
	var out []status.ScheduleConfig
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		s := byKey[key]
		out = append(out, status.ScheduleConfig{
			Key: key, Cluster: s.Cluster, Expression: s.Expression, Timezone: s.Timezone, Start: s.Start, End: s.End, Enabled: s.Enabled,
			MaxAgeMinutes: s.MaxAgeMinutes,
		})
	}
	return out
}
