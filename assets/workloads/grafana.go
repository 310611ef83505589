package workloadconfig

import (
	"path"
	"strconv"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Grafana's files and variables that the component fills in with secrets.
const (
	GrafanaTLSDir      = "/etc/observatory-tls"
	GrafanaCertificate = "tls.crt" // in GrafanaTLSDir
	GrafanaKey         = "tls.key"
	GrafanaAdmin       = "admin"
	EnvGrafanaPassword = "GF_SECURITY_ADMIN_PASSWORD"
)

// GrafanaLogsPlugin is the only plugin that Grafana's image lacks; 0.21.0 is
// the release of the same month as Grafana 12.2.
const GrafanaLogsPlugin = "victoriametrics-logs-datasource@0.21.0"

// Grafana configures Grafana by its environment: HTTPS only, one admin, nobody
// else unless the admin lets them in, nothing reported outside. Its plugin is
// fetched before it begins to serve.
func Grafana() Config {
	return Config{Env: map[string]string{
		"GF_SERVER_PROTOCOL":                    "https",
		"GF_SERVER_HTTP_PORT":                   strconv.Itoa(int(platform.Grafana)),
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
		"GF_AUTH_BASIC_ENABLED":                 "true", // the program provisions with it
		"GF_USERS_ALLOW_SIGN_UP":                "false",
		"GF_USERS_ALLOW_ORG_CREATE":             "false",
		"GF_SNAPSHOTS_EXTERNAL_ENABLED":         "false",
		"GF_ANALYTICS_REPORTING_ENABLED":        "false",
		"GF_ANALYTICS_CHECK_FOR_UPDATES":        "false",
		"GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES": "false",
		"GF_NEWS_NEWS_FEED_ENABLED":             "false",
		"GF_LOG_MODE":                           "console",
		"GF_LOG_CONSOLE_FORMAT":                 "json",
	}}
}
