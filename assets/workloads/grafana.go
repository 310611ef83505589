package workloadconfig

import (
	"path"
	"strconv"

	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	GrafanaTLSDir      = "/etc/observatory-tls" // certificate and key
	EnvGrafanaPassword = "GF_SECURITY_ADMIN_PASSWORD"
)

// GrafanaLogsPlugin is the only plugin that Grafana's image lacks; 0.21.0 is
// the release of the same month as Grafana 12.2.
const GrafanaLogsPlugin = "victoriametrics-logs-datasource@0.21.0"

// Grafana configures Grafana by its environment: HTTPS only, one administrator,
// who alone creates accounts, and no usage reports. The plugin is installed
// before Grafana starts to serve.
//
// Grafana does not start if it cannot fetch the plugin. Without a way to grafana.com it
// takes a copy, whose signature it checks all the same (Grafana documentation, Configure
// Grafana, plugins: id@version@url).
func Grafana(r platform.WorkloadRecord, s Settings) (Config, error) {
	env := grafanaEnvironment(r)
	if s.GrafanaPlugin != "" {
		env[platform.EnvGrafanaPreinstall] += "@" + s.GrafanaPlugin
	}
	access := platform.AccessSecret(r.Name)
	return Config{
		Env: env,
		SecretEnv: map[string]SecretKey{
			EnvGrafanaPassword: {access, platform.AccessPassword},
		},
		SecretFiles: []SecretFiles{
			{Secret: access, Volume: "tls", Dir: GrafanaTLSDir, Keys: []string{platform.AccessCertificate, platform.AccessKey}},
		},
	}, nil
}

func grafanaEnvironment(r platform.WorkloadRecord) map[string]string {
	return map[string]string{
		"GF_SERVER_PROTOCOL":                    r.Scheme(),
		"GF_SERVER_HTTP_PORT":                   strconv.Itoa(int(r.EndpointPort())),
		"GF_SERVER_CERT_FILE":                   path.Join(GrafanaTLSDir, platform.AccessCertificate),
		"GF_SERVER_CERT_KEY":                    path.Join(GrafanaTLSDir, platform.AccessKey),
		"GF_PATHS_DATA":                         DataDir,
		platform.EnvGrafanaPlugins:              DataDir + "/plugins",
		platform.EnvGrafanaPreinstall:           GrafanaLogsPlugin,
		"GF_SECURITY_ADMIN_USER":                platform.GrafanaUser,
		"GF_SECURITY_COOKIE_SECURE":             "true",
		"GF_SECURITY_COOKIE_SAMESITE":           "strict",
		"GF_SECURITY_DISABLE_GRAVATAR":          "true",
		"GF_SECURITY_STRICT_TRANSPORT_SECURITY": "true",
		"GF_AUTH_ANONYMOUS_ENABLED":             "false",
		"GF_AUTH_BASIC_ENABLED":                 "true", // the Pulumi program provisions through it
		"GF_USERS_ALLOW_SIGN_UP":                "false",
		"GF_USERS_ALLOW_ORG_CREATE":             "false",
		"GF_SNAPSHOTS_EXTERNAL_ENABLED":         "false",
		"GF_ANALYTICS_REPORTING_ENABLED":        "false",
		"GF_ANALYTICS_CHECK_FOR_UPDATES":        "false",
		"GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES": "false",
		"GF_NEWS_NEWS_FEED_ENABLED":             "false",
		"GF_LOG_MODE":                           "console",
		"GF_LOG_CONSOLE_FORMAT":                 "json",
	}
}
