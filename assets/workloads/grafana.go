package workloadconfig

import (
	"path"
	"strconv"

	"github.com/emr-observatory/emr-observatory/platform"
)

// SecretGrafana is the Secret with Grafana's certificate and password.
const SecretGrafana = string(platform.WorkloadGrafana) + "-access"

// Keys of SecretGrafana.
const (
	GrafanaCertificate = "tls.crt"
	GrafanaKey         = "tls.key"
	GrafanaCACert      = "ca.crt" // which signed GrafanaCertificate
	GrafanaPassword    = "password"
)

const (
	GrafanaTLSDir      = "/etc/observatory-tls" // GrafanaCertificate and GrafanaKey
	GrafanaAdmin       = "admin"
	EnvGrafanaPassword = "GF_SECURITY_ADMIN_PASSWORD"
)

// GrafanaLogsPlugin is the only plugin that Grafana's image lacks; 0.21.0 is
// the release of the same month as Grafana 12.2.
const GrafanaLogsPlugin = "victoriametrics-logs-datasource@0.21.0"

// Grafana configures Grafana by its environment: HTTPS only, one administrator,
// who alone creates accounts, and no usage reports. The plugin is installed
// before Grafana starts to serve.
func Grafana(r platform.WorkloadRecord, _ Settings) (Config, error) {
	return Config{
		Env: grafanaEnvironment(r),
		SecretEnv: map[string]SecretKey{
			EnvGrafanaPassword: {SecretGrafana, GrafanaPassword},
		},
		SecretFiles: []SecretFiles{
			{Secret: SecretGrafana, Volume: "tls", Dir: GrafanaTLSDir, Keys: []string{GrafanaCertificate, GrafanaKey}},
		},
	}, nil
}

func grafanaEnvironment(r platform.WorkloadRecord) map[string]string {
	return map[string]string{
		"GF_SERVER_PROTOCOL":                    r.Scheme(),
		"GF_SERVER_HTTP_PORT":                   strconv.Itoa(int(r.EndpointPort())),
		"GF_SERVER_CERT_FILE":                   path.Join(GrafanaTLSDir, GrafanaCertificate),
		"GF_SERVER_CERT_KEY":                    path.Join(GrafanaTLSDir, GrafanaKey),
		"GF_PATHS_DATA":                         DataDir,
		"GF_PATHS_PLUGINS":                      DataDir + "/plugins",
		"GF_PLUGINS_PREINSTALL_SYNC":            GrafanaLogsPlugin,
		"GF_SECURITY_ADMIN_USER":                GrafanaAdmin,
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
