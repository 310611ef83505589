package schema

import (
	"net/url"
	"path"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// sourceRules are those of where the control node fetches what it starts with. Its boot
// script and Grafana fetch by HTTPS alone; a password would be in the user data.
func sourceRules() map[string]Rule {
	return map[string]Rule{
		"registryHost": textOnly("must be host or host:port, without https://, credentials and path").
			with("", "write mirror.example.com; it serves docker.io/grafana/grafana as mirror.example.com/docker.io/grafana/grafana"),
		"k3sUrl": textOnly("must be the https:// URL of a folder, without credentials, query and trailing slash").
			with("", "copy "+platform.K3sReleases+" with "+platform.K3sVersion+"/k3s below it, and name the copy"),
		"pluginUrl": textOnly("must be the https:// URL of a zip file, without credentials, query and comma").
			with("", "name a copy of the plugin's zip file from grafana.com"),
	}
}

// checkSources adds the violations of those keys to l. A value with credentials is not
// shown.
func (c ControlNode) checkSources(l *violation.List, path string) {
	for _, source := range []struct {
		key, rule, value string
		holds            func(string) bool
	}{
		{"registryMirror", "registryHost", c.RegistryMirror, isRegistryHost}, {"k3sUrl", "k3sUrl", c.K3sURL, isDownload},
		{"grafanaPluginUrl", "pluginUrl", c.GrafanaPluginURL, isPlugin},
	} {
		var shown any = source.value
		if strings.ContainsAny(source.value, "@?") {
			shown = violation.Hidden
		}
		r := rules[source.rule]
		l.Require(source.value == "" || source.holds(source.value), path+"."+source.key, shown, r.Text, r.Remedy)
	}
}

func isRegistryHost(s string) bool {
	u, err := url.Parse("https://" + s)
	if err != nil || u.Host != s || u.Port() == "" && strings.Contains(s, ":") {
		return false
	}
	return isHost(u.Hostname()) && (u.Port() == "" || isPort(u))
}

func isDownload(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && isHost(u.Hostname()) && !strings.ContainsAny(s, "@?#\"'\\ ") && !strings.HasSuffix(s, "/") &&
		(u.Port() == "" || isPort(u))
}

// isPlugin: in Grafana's list of plugins, a comma ends an entry and @ a part of it.
func isPlugin(s string) bool {
	return isDownload(s) && !strings.Contains(s, ",") && path.Ext(s) == ".zip"
}
