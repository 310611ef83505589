package dashboards_test

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

func TestOtherQueriesMatchContract(t *testing.T) {
	fields, attributes, profiles := []string{}, []string{}, []string{}
	for _, f := range contract.LogFields() {
		fields = append(fields, f.Name)
	}
	for _, a := range contract.SpanAttributes() {
		attributes = append(attributes, a.Name)
	}
	for _, p := range contract.Profiles() {
		profiles = append(profiles, p.ID)
	}
	count := map[string]int{}
	eachTarget(t, func(t *testing.T, _ panelDoc, q targetDoc) {
		count[q.Datasource.UID]++
		switch platform.Datasource(q.Datasource.UID) {
		case platform.DatasourceLogs:
			checkLogFields(t, q.Expr, fields)
		case platform.DatasourceTraces:
			for _, match := range regexp.MustCompile(`(?:resource|span)\.([a-z][a-z._]*)`).FindAllStringSubmatch(q.Query, -1) {
				require.Contains(t, attributes, match[1], q.Query)
			}
		case platform.DatasourceProfiles:
			require.Contains(t, profiles, q.ProfileTypeID)
			checkProfileLabels(t, q.LabelSelector)
		}
	})
	for _, ds := range []platform.Datasource{platform.DatasourceLogs, platform.DatasourceTraces, platform.DatasourceProfiles} {
		require.Positive(t, count[string(ds)], "no query reads %s", ds)
	}
}

func checkLogFields(t *testing.T, expr string, fields []string) {
	t.Helper()
	expr = regexp.MustCompile(`\$\{[^}]*\}`).ReplaceAllString(expr, "VALUE")
	used := regexp.MustCompile(`(?:by \(|[{,]|\s)"?([a-z_][a-z_.]*)"?(?:=~|=|:|\))`).FindAllStringSubmatch(expr, -1)
	require.NotEmpty(t, used, "%s names no field", expr)
	for _, match := range used {
		require.Contains(t, fields, match[1], expr)
	}
}

func checkProfileLabels(t *testing.T, selector string) {
	t.Helper()
	labels := regexp.MustCompile(`(\w+)=~?"`).FindAllStringSubmatch(selector, -1)
	require.NotEmpty(t, labels, selector)
	for _, match := range labels {
		require.Contains(t, contract.SourceLabels(contract.SourceJVM), match[1], selector)
	}
}

func TestLinksResolve(t *testing.T) {
	uids := map[string]bool{}
	for _, d := range suite(t) {
		uids[d.UID] = true
	}
	fields := []string{}
	for _, f := range contract.LogFields() {
		fields = append(fields, f.Name)
	}
	stores := map[platform.Datasource]int{}
	for _, d := range suite(t) {
		for _, p := range parse(t, d).Panels {
			for _, link := range p.FieldConfig.Defaults.Links {
				where := p.Title + ": " + link.Title
				require.NotContains(t, link.URL, "%24%7B", "%s: an escaped variable is not replaced", where)
				if uid, ok := strings.CutPrefix(link.URL, "/d/"); ok {
					uid, _, _ = strings.Cut(uid, "?")
					require.True(t, uids[uid], "%s leads to dashboard %q", where, uid)
					require.Contains(t, link.URL, "${__url_time_range}", where)
					continue
				}
				if page, ok := strings.CutPrefix(link.URL, platform.SourceURL); ok {
					for _, recipe := range rules.Recipes() {
						require.FileExists(t, "../"+strings.ReplaceAll(page, "${__data.fields."+links.RecipeLabel+"}", string(recipe)), where)
					}
					continue
				}
				ds, query := parseExploreLink(t, link.URL)
				stores[ds]++
				if ds == platform.DatasourceLogs {
					checkLogFields(t, query.Expr, fields)
				}
				checkLinkLabels(t, where, p, link.URL)
			}
		}
	}
	for _, ds := range []platform.Datasource{platform.DatasourceLogs, platform.DatasourceTraces, platform.DatasourceProfiles} {
		require.Positive(t, stores[ds], "no link leads to %s", ds)
	}
}

// parseExploreLink reads the datasource and query of an Explore link.
func parseExploreLink(t *testing.T, link string) (platform.Datasource, targetDoc) {
	t.Helper()
	u, err := url.Parse(link)
	require.NoError(t, err)
	require.Equal(t, "/explore", u.Path)
	var panes map[string]struct {
		Datasource string            `json:"datasource"`
		Queries    []targetDoc       `json:"queries"`
		Range      map[string]string `json:"range"`
	}
	require.NoError(t, json.Unmarshal([]byte(u.Query().Get("panes")), &panes), link)
	pane := panes["a"]
	require.Len(t, pane.Queries, 1, link)
	require.Equal(t, pane.Datasource, pane.Queries[0].Datasource.UID, link)
	require.NotEmpty(t, pane.Queries[0].text(), link)
	require.Equal(t, map[string]string{"from": "${__from}", "to": "${__to}"}, pane.Range, link)
	return platform.Datasource(pane.Datasource), pane.Queries[0]
}

// checkLinkLabels requires that a link uses only labels that the panel's series have.
func checkLinkLabels(t *testing.T, where string, p panelDoc, link string) {
	t.Helper()
	for _, match := range regexp.MustCompile(`__(?:field\.labels|data\.fields)\.(\w+)`).FindAllStringSubmatch(link, -1) {
		for _, q := range p.Targets {
			require.Contains(t, q.text()+" "+string(mustJSON(t, q)), match[1], "%s: query %s has no label %s", where, q.RefID, match[1])
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return raw
}
