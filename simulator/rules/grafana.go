package rules

import (
	"regexp"
	"strings"
)

// grafanaRules cover Grafana.
func grafanaRules() []Rule {
	return []Rule{
		{Type: "grafana:oss/dashboard:Dashboard", Path: "configJson",
			Rule:   "must be a JSON object with a title and a uid of 1 to 40 characters a-z, A-Z, 0-9, - and _",
			Source: "Grafana HTTP API, Dashboard", Holds: onString(isDashboard), Pass: `{"uid":"emr-overview","title":"EMR Overview"}`,
			Fail: `{"title":"EMR Overview"}`},
		{Type: "grafana:oss/folder:Folder", Path: "uid", Rule: "must be 1 to 40 characters a-z, A-Z, 0-9, - and _",
			Source: "Grafana HTTP API, Folder", Holds: onString(grafanaUIDPattern.MatchString), Pass: "observatory", Fail: "a b"},
		{Type: "grafana:oss/dataSource:DataSource", Path: "uid", Rule: "must be 1 to 40 characters a-z, A-Z, 0-9, - and _",
			Source: "Grafana HTTP API, Data source", Holds: onString(grafanaUIDPattern.MatchString), Pass: "tempo", Fail: "tempo!"},
		{Type: "grafana:oss/dataSource:DataSource", Path: "jsonDataEncoded", Rule: "must be a JSON object",
			Source: "pulumi-grafana DataSource", Holds: onString(isJSONObject), Pass: `{}`, Fail: `[]`},
		{Type: "grafana:oss/dataSource:DataSource", Path: "url", Rule: "must be an http:// or https:// URL",
			Source: "Grafana HTTP API, Data source", Holds: matches(`^https?://.+`), Pass: "http://tempo:3200", Fail: "tempo:3200"},
	}
}

var grafanaUIDPattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)

func isDashboard(s string) bool {
	o, ok := jsonObject(s)
	uid, hasUID := stringField(o, "uid")
	title, hasTitle := stringField(o, "title")
	return ok && hasUID && hasTitle && grafanaUIDPattern.MatchString(uid) && strings.TrimSpace(title) != ""
}
