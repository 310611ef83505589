package presets_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema/presets"
)

// every preset says what it is for, and each of its corrections why and by whose word.
func TestEveryPresetExplainsItself(t *testing.T) {
	require.Equal(t, []string{
		"data-engineering", "data-lake", "development", "interactive", "io-optimized", "machine-learning", "memory-optimized",
		"multi-tenant", "streaming", "transient",
	}, presets.Names())
	for _, name := range presets.Names() {
		p, found := presets.Named(name)
		require.True(t, found)
		require.NotEmpty(t, p.Purpose, name)
		require.NotEmpty(t, p.Cluster, name)
		for _, c := range p.Corrections {
			require.NotEmpty(t, c.Asked, name)
			require.NotEmpty(t, c.Done, "%s: %s", name, c.Asked)
			require.NotEmpty(t, c.Why, "%s: %s", name, c.Asked)
			require.NotEmpty(t, c.Source, "%s: %s", name, c.Asked)
		}
	}
	_, found := presets.Named("datalake")
	require.False(t, found)
}

func TestMerge(t *testing.T) {
	const base = `{"core":{"count":2,"ebs":[{"sizeGiB":1},{"sizeGiB":2}]},"tasks":{"a":{"count":1},"b":{"count":2}},"tags":{"k":"v"},
		"configurations":[{"classification":"yarn-site","properties":{"a":"1","b":"2"}},
			{"classification":"hadoop-env","configurations":[{"classification":"export","properties":{"H":"1"}}]}]}`
	for name, c := range map[string]struct{ own, want string }{
		"nothing":              {`{}`, base},
		"a value of an object": {`{"core":{"count":5}}`, `{"core":{"count":5,"ebs":[{"sizeGiB":1},{"sizeGiB":2}]}}`},
		"a list is whole":      {`{"core":{"ebs":[{"sizeGiB":9}]}}`, `{"core":{"count":2,"ebs":[{"sizeGiB":9}]}}`},
		"null removes":         {`{"tasks":{"a":null},"tags":null}`, `{"tasks":{"b":{"count":2}},"tags":null}`},
		"an entry of a map":    {`{"tasks":{"c":{}}}`, `{"tasks":{"a":{"count":1},"b":{"count":2},"c":{}}}`},
		"a property, the user's classification first": {
			`{"configurations":[{"classification":"x"},{"classification":"yarn-site","properties":{"b":"3"}}]}`,
			`{"configurations":[{"classification":"x"},{"classification":"yarn-site","properties":{"a":"1","b":"3"}},
				{"classification":"hadoop-env","configurations":[{"classification":"export","properties":{"H":"1"}}]}]}`,
		},
		"a nested property, and one removed": {
			`{"configurations":[{"classification":"hadoop-env","configurations":[{"classification":"export","properties":{"I":"2"}}]},
				{"classification":"yarn-site","properties":{"a":null}}]}`,
			`{"configurations":[{"classification":"hadoop-env","configurations":[{"classification":"export","properties":{"H":"1","I":"2"}}]},
				{"classification":"yarn-site","properties":{"b":"2"}}]}`,
		},
		"an empty list of classifications": {`{"configurations":[]}`, base},
		"fleets take the groups' place":    {`{"fleets":{"master":{}}}`, `{"fleets":{"master":{}},"core":null,"tasks":null}`},
		"a wrong type stays":               {`{"core":3,"configurations":{"a":1}}`, `{"core":3,"configurations":{"a":1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := presets.Preset{Cluster: object(t, base)}
			want := object(t, base)
			for key, value := range object(t, c.want) {
				want[key] = value
				if value == nil {
					delete(want, key)
				}
			}
			require.Equal(t, want, p.Complete("emr-7.10.0", object(t, c.own)))
			require.Equal(t, object(t, base), p.Cluster, "the preset stays as it is")
		})
	}
}

// What the user sets wins, and what nobody overrides is the preset's.
func TestTheUsersValuesWin(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	keys := []string{"a", "b", "c"}
	tree := func() map[string]any {
		out := map[string]any{}
		for _, outer := range keys {
			values := map[string]any{}
			for _, inner := range keys {
				if random.IntN(2) == 0 {
					values[inner] = random.IntN(5)
				}
			}
			if random.IntN(3) > 0 {
				out[outer] = values
			}
		}
		return out
	}
	for range 500 {
		base, own := tree(), tree()
		got := presets.Preset{Cluster: base}.Complete("", own)
		for _, outer := range keys {
			for _, inner := range keys {
				want := at(own, outer, inner)
				if want == nil {
					want = at(base, outer, inner)
				}
				require.Equal(t, want, at(got, outer, inner), "%s.%s of %v over %v", outer, inner, own, base)
			}
		}
	}
}

// Values of a release replace those of all.
func TestValuesByRelease(t *testing.T) {
	p, _ := presets.Named("data-lake")
	label := func(release string) any {
		list, _ := p.For(release)["configurations"].([]any)
		for _, entry := range list {
			if e, _ := entry.(map[string]any); e["classification"] == "yarn-site" {
				return at(e, "properties", "yarn.node-labels.am.default-node-label-expression")
			}
		}
		return nil
	}
	require.Equal(t, "CORE", label("emr-6.15.0"))
	require.Equal(t, "ON_DEMAND", label("emr-7.10.0"))
	require.Nil(t, label("emr-8.0.0"))
}

func at(tree map[string]any, outer, inner string) any {
	object, _ := tree[outer].(map[string]any)
	return object[inner]
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(text), &out))
	return out
}
