package dashboards_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards"
)

var update = flag.Bool("update", false, "write the rendered dashboards and reference pages")

// board is the part of a rendered dashboard's JSON that the tests read.
type board struct {
	UID        string     `json:"uid"`
	Editable   bool       `json:"editable"`
	Panels     []panelDoc `json:"panels"`
	Templating struct {
		List []struct {
			Name  string `json:"name"`
			Type  string `json:"type"`
			Query struct {
				Query string `json:"query"`
			} `json:"query"`
			AllValue   string `json:"allValue"`
			Multi      bool   `json:"multi"`
			IncludeAll bool   `json:"includeAll"`
			Hide       int    `json:"hide"`
			NotInURL   bool   `json:"skipUrlSync"`
		} `json:"list"`
	} `json:"templating"`
}

type panelDoc struct {
	ID          int                      `json:"id"`
	Type        string                   `json:"type"`
	Title       string                   `json:"title"`
	Description string                   `json:"description"`
	GridPos     struct{ X, Y, W, H int } `json:"gridPos"`
	Targets     []targetDoc              `json:"targets"`
	FieldConfig struct {
		Defaults struct {
			Unit  string `json:"unit"`
			Links []struct {
				Title string `json:"title"`
				URL   string `json:"url"`
			} `json:"links"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
}

type targetDoc struct {
	RefID         string `json:"refId"`
	Expr          string `json:"expr"`
	Query         string `json:"query"`
	LabelSelector string `json:"labelSelector"`
	ProfileTypeID string `json:"profileTypeId"`
	Datasource    struct {
		UID  string `json:"uid"`
		Type string `json:"type"`
	} `json:"datasource"`
}

func (t targetDoc) text() string { return t.Expr + t.Query + t.LabelSelector }

func suite(t *testing.T) []dashboards.Dashboard {
	t.Helper()
	suite, err := dashboards.Suite()
	require.NoError(t, err)
	require.NotEmpty(t, suite)
	return suite
}

func parse(t *testing.T, d dashboards.Dashboard) board {
	t.Helper()
	var b board
	require.NoError(t, json.Unmarshal(d.JSON, &b))
	return b
}

// eachTarget calls check for every query of every panel, and fails if there is none.
func eachTarget(t *testing.T, check func(t *testing.T, p panelDoc, target targetDoc)) {
	t.Helper()
	count := 0
	for _, d := range suite(t) {
		for _, p := range parse(t, d).Panels {
			for _, target := range p.Targets {
				count++
				t.Run(d.Slug+"/"+p.Title+"/"+target.RefID, func(t *testing.T) { check(t, p, target) })
			}
		}
	}
	require.Positive(t, count, "no query at all")
}

func TestGoldenAndDeterminism(t *testing.T) {
	for _, d := range suite(t) {
		path := filepath.Join("testdata", d.Slug+".json")
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(path, d.JSON, 0o644))
		}
		golden, err := os.ReadFile(path)
		require.NoError(t, err, "run go test ./dashboards -update")
		require.Equal(t, string(golden), string(d.JSON), "run go test ./dashboards -update and read the change")
	}
	for range 5 {
		again := suite(t)
		for i, d := range suite(t) {
			require.True(t, bytes.Equal(d.JSON, again[i].JSON), "%s renders differently each time", d.Slug)
		}
	}
}

func TestReferencePage(t *testing.T) {
	path, page := "../docs/reference/dashboards.md", dashboards.Reference()
	if *update {
		require.NoError(t, os.WriteFile(path, page, 0o644))
	}
	written, err := os.ReadFile(path)
	require.NoError(t, err, "run go test ./dashboards -update")
	require.Equal(t, string(page), string(written), "%s is out of date: run go test ./dashboards -update", path)
}

func TestPanelsAreComplete(t *testing.T) {
	for _, d := range suite(t) {
		b := parse(t, d)
		require.Equal(t, d.UID, b.UID)
		require.False(t, b.Editable)
		ids, places, panels := map[int]bool{}, map[[2]int]string{}, 0
		for _, p := range b.Panels {
			require.Positive(t, p.ID, p.Title)
			require.False(t, ids[p.ID], "id %d of %q is used twice", p.ID, p.Title)
			ids[p.ID] = true
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
					require.Empty(t, places[[2]int{x, y}], "%q overlaps another panel", p.Title)
					places[[2]int{x, y}] = p.Title
				}
			}
			if p.Type == "row" {
				continue
			}
			panels++
			for _, part := range []string{"**Shows:** ", "**Bad:** ", "**Next:** "} {
				require.Contains(t, p.Description, part, p.Title)
			}
			require.NotEmpty(t, p.FieldConfig.Defaults.Unit, p.Title)
			require.NotEmpty(t, p.Targets, p.Title)
			refs := map[string]bool{}
			for _, target := range p.Targets {
				require.NotEmpty(t, target.RefID, p.Title)
				require.False(t, refs[target.RefID], "%q has two queries %s", p.Title, target.RefID)
				refs[target.RefID] = true
			}
		}
		require.Positive(t, panels)
		require.Zero(t, len(places)%24, "the grid has holes")
	}
}

func TestTitlesQuotedInDescriptionsExist(t *testing.T) {
	quoted := regexp.MustCompile(`"([A-Z][^"]+)"`)
	count := 0
	for _, d := range suite(t) {
		panels := parse(t, d).Panels
		for _, p := range panels {
			for _, match := range quoted.FindAllStringSubmatch(p.Description, -1) {
				count++
				require.True(t, slices.ContainsFunc(panels, func(o panelDoc) bool { return strings.HasPrefix(o.Title, match[1]) }),
					"%q refers to %q, which is not a panel", p.Title, match[1])
			}
		}
	}
	require.Positive(t, count)
}

func TestVariablesCascadeAndAreUsed(t *testing.T) {
	for _, d := range suite(t) {
		b := parse(t, d)
		require.NotEmpty(t, b.Templating.List)
		above, narrowing := []string{}, []string{}
		for _, v := range b.Templating.List {
			require.Equal(t, "query", v.Type)
			require.True(t, v.IncludeAll || !v.Multi, v.Name)
			if v.IncludeAll && v.Hide == 0 {
				require.Equal(t, ".*", v.AllValue, v.Name)
			}
			for _, name := range narrowing {
				require.Contains(t, v.Query.Query, "$"+name, "variable %s is not narrowed by %s", v.Name, name)
			}
			if v.Hide > 0 { // it follows those above it alone, and stands for them below
				require.True(t, v.Multi && v.IncludeAll && v.NotInURL && v.AllValue == "", v.Name)
				narrowing = nil
			}
			if !v.Multi && !v.IncludeAll { // exactly one, which was found by those above it
				narrowing = nil
			}
			above, narrowing = append(above, v.Name), append(narrowing, v.Name)
			used := slices.ContainsFunc(b.Panels, func(p panelDoc) bool {
				return slices.ContainsFunc(p.Targets, func(q targetDoc) bool { return usesVariable(q.text(), v.Name) })
			})
			for _, other := range b.Templating.List { // one that only narrows another
				used = used || usesVariable(other.Query.Query, v.Name)
			}
			require.True(t, used, "variable %s is not used", v.Name)
		}
		for _, p := range b.Panels {
			for _, q := range p.Targets {
				for _, name := range regexp.MustCompile(`\$\{?([a-z]\w*)`).FindAllStringSubmatch(q.text(), -1) {
					require.Contains(t, above, name[1], "%q uses a variable that does not exist", p.Title)
				}
			}
		}
	}
}

// A dashboard chooses clusters by name. The ids that its queries match follow, and show
// nothing of a cluster with another name.
func TestClustersAreChosenByName(t *testing.T) {
	for _, d := range suite(t) {
		list := parse(t, d).Templating.List
		require.Equal(t, "cluster_name", list[0].Name, d.Slug)
		require.Zero(t, list[0].Hide)
		require.Equal(t, "label_values(observatory_cluster_info, cluster_name)", list[0].Query.Query)
		require.Equal(t, "cluster", list[1].Name)
		require.Equal(t, 2, list[1].Hide, "hideVariable")
		require.Regexp(t, `^label_values\(\{__name__=~"observatory_cluster_info\|\w+",cluster_name=~"\$cluster_name"\}, cluster\)$`,
			list[1].Query.Query)
	}
}

func usesVariable(text, variable string) bool {
	return regexp.MustCompile(`\$(\{` + variable + `[:}]|` + variable + `\b)`).MatchString(text)
}
