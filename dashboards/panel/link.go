package panel

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Link leads from a value of a panel to where to look next. The URL may contain
// Grafana's ${…} variables.
type Link struct {
	Title string
	URL   string
}

func (l Link) build() dashboard.DashboardLink {
	target := l.URL
	return dashboard.DashboardLink{
		Title: l.Title, Url: &target, Type: dashboard.DashboardLinkTypeLink, Tags: []string{}, TargetBlank: true,
	}
}

// Field returns the Grafana variable for a label of the clicked value. It exists
// only on series that have the label.
func Field(label platform.Label) string { return "${__field.labels." + label.Metric() + "}" }

// Legend returns a legend that shows a label's value.
func Legend(label platform.Label) string { return "{{" + label.Metric() + "}}" }

// Cell returns the same for a row of a Table: the row's column of that label.
func Cell(label platform.Label) string { return "${__data.fields." + label.Metric() + "}" }

// ToLogs opens a LogsQL query in Explore, at the dashboard's time range.
func ToLogs(title, expr string) Link {
	return exploreLink(title, platform.DatasourceLogs, map[string]any{"expr": expr, "queryType": logsLines})
}

// ToTraces opens a TraceQL search in Explore.
func ToTraces(title, expr string) Link {
	return exploreLink(title, platform.DatasourceTraces, map[string]any{"query": expr, "queryType": tracesSearch, "filters": []any{}})
}

// ToProfile opens a profile type in Explore.
func ToProfile(title, profileType, selector string) Link {
	return exploreLink(title, platform.DatasourceProfiles, map[string]any{
		"labelSelector": selector, "profileTypeId": profileType, "queryType": "both", "groupBy": []string{},
	})
}

// ToBoard opens a dashboard of the suite at the same time range, with the given
// values of variables by name.
func ToBoard(title, uid string, variables map[string]string) Link {
	query := url.Values{}
	for name, value := range variables {
		query.Set("var-"+name, value)
	}
	return Link{Title: title, URL: boardPath(uid) + "?" + EncodeQuery(query) + "&${__url_time_range}"}
}

// boardPath is the path of a dashboard below Grafana's URL.
func boardPath(uid string) string { return "/d/" + uid }

// Link leads to the whole dashboard, with its default time range and variables.
func (b Board) Link() Link { return Link{Title: b.Title, URL: boardPath(b.UID)} }

// exploreLink links to a query in Grafana's Explore, in the dashboard's time range.
func exploreLink(title string, ds platform.Datasource, query map[string]any) Link {
	query["refId"] = "A"
	query["datasource"] = dataSourceRef(ds)
	panes := map[string]any{"a": map[string]any{
		"datasource": string(ds),
		"queries":    []any{query},
		"range":      map[string]string{"from": "${__from}", "to": "${__to}"},
	}}
	raw, err := json.Marshal(panes)
	if err != nil { // maps of strings always marshal; TestLinksResolve would find an empty URL
		return Link{Title: title}
	}
	return Link{Title: title, URL: "/explore?" + EncodeQuery(url.Values{
		"schemaVersion": {"1"}, "orgId": {"1"}, "panes": {string(raw)},
	})}
}

// EncodeQuery encodes a URL's query, except the variables ${…} in it.
func EncodeQuery(query url.Values) string { return unescapeVariables(query.Encode()) }

// escapedVariable matches a ${…} variable after URL encoding, which Grafana
// would not replace.
var escapedVariable = regexp.MustCompile(`%24%7B([A-Za-z0-9_.%]+?)%7D`)

// unescapeVariables undoes the URL encoding of Grafana variables (${__from}).
func unescapeVariables(encoded string) string {
	return escapedVariable.ReplaceAllStringFunc(encoded, func(token string) string {
		plain, err := url.QueryUnescape(token)
		if err != nil {
			return token
		}
		return plain
	})
}

// BoardLink is a link at the top of a dashboard: to a URL, or a drop-down of all
// dashboards with a tag.
type BoardLink struct {
	Title string
	Tag   string // set this one …
	URL   string // … or this one
}

func (l BoardLink) build() dashboard.DashboardLink {
	link := dashboard.DashboardLink{Title: l.Title, KeepTime: true, IncludeVars: true, Tags: []string{}, Type: dashboard.DashboardLinkTypeLink}
	if l.Tag != "" {
		link.Type, link.Tags, link.AsDropdown = dashboard.DashboardLinkTypeDashboards, []string{l.Tag}, true
		return link
	}
	target := l.URL
	link.Url = &target
	return link
}

// String names the link in messages.
func (l Link) String() string { return fmt.Sprintf("%s <%s>", l.Title, l.URL) }
