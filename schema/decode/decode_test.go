package decode_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema/decode"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// root has every kind of field that configuration may need.
type root struct {
	Name     string              `json:"name" required:"true"`
	Ratio    float64             `json:"ratio"`
	Clusters map[string]cluster  `json:"clusters"`
	Spare    map[string]*cluster `json:"spare"`
	Weights  map[string]float64  `json:"weights"`
	Tags     map[string]string   `json:"tags"`
}

type cluster struct {
	Core group  `json:"core"`
	Task *group `json:"task"`
}

type group struct {
	Count int       `json:"count"`
	Sizes []float64 `json:"sizes"`
}

func (c *cluster) SetDefaults() { c.Core.SetDefaults() }
func (g *group) SetDefaults()   { g.Count = 2 }

func (root) Help() map[string]string { return map[string]string{"clusters": "By name."} }

func decodeRoot(values map[string]string) (root, error) {
	r := root{Ratio: 0.5}
	var l violation.List
	decode.Into(values, &r, &l)
	return r, l.Err()
}

func TestDecodesMapsOfObjectsOverDefaults(t *testing.T) {
	r, err := decodeRoot(map[string]string{
		"name":     "bare text",
		"clusters": `{"etl":{"core":{"count":4}},"adhoc":{},"batch":{"task":{"sizes":[1,2.5]}}}`,
		"spare":    `{"a":{},"b":null}`,
	})
	require.NoError(t, err)
	require.Equal(t, root{
		Name: "bare text", Ratio: 0.5,
		Clusters: map[string]cluster{
			"etl": {Core: group{Count: 4}}, "adhoc": {Core: group{Count: 2}},
			"batch": {Core: group{Count: 2}, Task: &group{Count: 2, Sizes: []float64{1, 2.5}}},
		},
		Spare: map[string]*cluster{"a": {Core: group{Count: 2}}, "b": nil},
	}, r)
}

func TestDecodesDecimalNumbers(t *testing.T) {
	r, err := decodeRoot(map[string]string{"ratio": "1.25", "weights": `{"a":1,"b":-0.5,"c":1e3}`})
	require.NoError(t, err)
	require.InDelta(t, 1.25, r.Ratio, 0)
	require.Equal(t, map[string]float64{"a": 1, "b": -0.5, "c": 1000}, r.Weights)
}

func TestReportsPathsInsideMaps(t *testing.T) {
	for text, want := range map[string]string{
		`{"etl":{"core":{"count":1.5}}}`:  "clusters.etl.core.count: 1.5 must be an integer",
		`{"etl":{"core":{"count":"2"}}}`:  `clusters.etl.core.count: "2" must be an integer`,
		`{"etl":{"core":{"count":1e99}}}`: "clusters.etl.core.count: 1e99 must be an integer",
		`{"etl":{"core":{"kount":2}}}`:    "clusters.etl.core.kount: (unknown) is not a key of this configuration; did you mean count?",
		`{"etl":{"core":{"SIZES":[]}}}`:   "clusters.etl.core.SIZES: (unknown) is not a key of this configuration; did you mean sizes?",
		`{"etl":{"core":{"number":2}}}`: "clusters.etl.core.number: (unknown) is not a key of this configuration; " +
			"known here: count, sizes",
		`{"etl":{"task":{"sizes":[1,true]}}}`: "clusters.etl.task.sizes[1]: true must be a number",
		`{"etl":7}`:                           "clusters.etl: 7 must be an object",
		`[]`:                                  "clusters: [] must be an object",
		`{"etl":{}} {}`:                       `clusters: "{\"etl\":{}} {}" must be an object`,
		`{"a":{"core":null},"b":{"task":"none"}}`: "a.core: null must be an object",
	} {
		_, err := decodeRoot(map[string]string{"clusters": text})
		require.ErrorContains(t, err, want, text)
	}
	_, err := decodeRoot(map[string]string{"tags": `{"a":1}`, "ratio": `"x"`, "weights": `{"a":"1"}`, "nome": "x"})
	for _, want := range []string{"tags.a: 1 must be a string; write it in quotes",
		`ratio: "x" must be a number; set it with ` + "`pulumi config set --type float --path 'emr-observatory:ratio'",
		`weights.a: "1" must be a number`, "nome: (unknown)"} {
		require.ErrorContains(t, err, want)
	}
}

func TestFieldsDescribeEntriesOfMaps(t *testing.T) {
	fields := map[string]decode.Field{}
	for _, f := range decode.Fields(root{Ratio: 0.5}) {
		fields[f.Path] = f
	}
	require.Equal(t, decode.Field{Path: "clusters.*.core.count", Type: "integer", Default: "2", Depth: 2}, fields["clusters.*.core.count"])
	require.Equal(t, "array of number", fields["clusters.*.task.sizes"].Type)
	require.Equal(t, decode.Field{Path: "ratio", Type: "number", Default: "0.5"}, fields["ratio"])
	require.Equal(t, "By name.", fields["clusters"].Help)
	require.True(t, fields["name"].Required)
	require.Empty(t, fields["name"].Default)
}

// tree contains itself, and lacks a key that somebody may expect.
type tree struct {
	Name     string `json:"name"`
	Branches []tree `json:"branches"`
}

func (tree) Refused() map[string]decode.Refusal {
	return map[string]decode.Refusal{"leaf": {
		Rule: "is no key: trees have branches", Remedy: "write", Rewrite: func(v any) string { return fmt.Sprintf("branches: [%v]", v) },
	}}
}

type forest struct {
	Tree tree `json:"tree"`
}

func TestATypeMayContainItself(t *testing.T) {
	var f forest
	var l violation.List
	decode.Into(map[string]string{"tree": `{"name":"a","branches":[{"branches":[{"name":"c"}]}]}`}, &f, &l)
	require.NoError(t, l.Err())
	require.Equal(t, "c", f.Tree.Branches[0].Branches[0].Name)
	var paths []string
	for _, field := range decode.Fields(f) {
		paths = append(paths, field.Path)
	}
	require.Equal(t, []string{"tree", "tree.name", "tree.branches"}, paths)
}

func TestAKeyMayBeRefusedWithAReason(t *testing.T) {
	var l violation.List
	decode.Into(map[string]string{"tree": `{"leaf":"x"}`}, &forest{}, &l)
	require.EqualError(t, l.Err(), "tree.leaf: (unknown) is no key: trees have branches; write:\nbranches: [x]")
}
