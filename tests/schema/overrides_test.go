package schema_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/observe/runjobflow"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/decode"
	"github.com/emr-observatory/emr-observatory/schema/violation"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// TestRandomOverridesAreRefusedOrFit overrides values of valid clusters with others that
// may not fit. What is refused has a path and a remedy. What is accepted, the provider
// servers and botocore accept too, and both renderings agree on it.
func TestRandomOverridesAreRefusedOrFit(t *testing.T) {
	n := configurations
	if testenv.Long() {
		n = longConfigurations
	}
	c := checker{seen: map[string]bool{}, authority: issuer.Issue(t, time.Now().AddDate(1, 0, 0), "otlp.example.com").Intermediate}
	var lines []string
	accepted := 0
	for seed := range uint64(n) {
		g := generator{rand.New(rand.NewPCG(seed, 3)), t, c.authority}
		values := g.overrides()
		cfg, err := config.Parse(values)
		if err != nil {
			requirePaths(t, err, values)
			continue
		}
		accepted++
		for key, cluster := range cfg.Clusters {
			cluster = cluster.WithBids(cfg.Region)
			input := plain(t, runjobflow.Input(cluster, environment(key)))
			resources := recordCluster(t, key, cluster, cfg)
			require.Equal(t, fromPulumi(t, resources), withSecurity(t, cluster, input), "seed %d: %s", seed, values["clusters"])
			for _, r := range resources {
				if !r.Component {
					c.checkResource(seed, r, values["clusters"])
				}
			}
			line, err := json.Marshal(input)
			require.NoError(t, err)
			lines = append(lines, string(line))
		}
	}
	t.Logf("%d overrides: %d accepted, with %d clusters", n, accepted, len(lines))
	require.Empty(t, strings.Join(c.findings[:min(20, len(c.findings))], "\n"))
	require.Greater(t, accepted, n/10, "the overrides are mostly invalid")
	require.Less(t, accepted, n*9/10, "the overrides are mostly valid")
	testenv.RequireInputs(t, "emr", "RunJobFlow", lines...)
}

// requirePaths requires every part of an error to be a violation of a key.
func requirePaths(t *testing.T, err error, values map[string]string) {
	t.Helper()
	found := violation.All(err)
	require.NotEmpty(t, found, "%v", err)
	var texts []string
	for _, v := range found {
		require.Regexp(t, "^"+platform.Project+`:(clusters|architectures|network\.cidr)\b`, v.Path, values["clusters"])
		require.NotEmpty(t, v.Rule)
		require.NotEmpty(t, v.Remedy)
		texts = append(texts, v.Error())
	}
	require.Equal(t, strings.Join(texts, "\n"), err.Error(), "a part of the error is no violation")
}

// overrides returns a configuration with up to two values of its clusters replaced,
// removed, doubled or added.
func (g generator) overrides() map[string]string {
	cfg := schema.Defaults()
	cfg.Region, cfg.Ephemeral = "us-east-1", g.IntN(2) == 0
	cfg.Clusters = map[string]schema.Cluster{}
	for len(cfg.Clusters) == 0 || cfg.Validate() != nil {
		cfg.Clusters = map[string]schema.Cluster{"etl": g.cluster(&cfg)}
		g.consistent(&cfg)
	}
	var clusters map[string]any
	text, err := json.Marshal(cfg.Clusters)
	if err == nil {
		err = json.Unmarshal(text, &clusters)
	}
	if err != nil {
		g.t.Fatal(err)
	}
	dropNull(clusters)
	for range g.IntN(3) {
		g.override(clusters)
	}
	text, err = json.Marshal(clusters)
	if err != nil {
		g.t.Fatal(err)
	}
	return map[string]string{"region": cfg.Region, "ephemeral": fmt.Sprint(cfg.Ephemeral), "clusters": string(text)}
}

// dropNull removes what Go writes of lists and sections that are not set.
func dropNull(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if e == nil {
				delete(v, k)
			}
			dropNull(e)
		}
	case []any:
		for _, e := range v {
			dropNull(e)
		}
	}
}

// place is where a document holds a value.
type place struct {
	value   any
	replace func(any)
	remove  func() // nil in a list
}

// places lists the values below one.
func places(v any) []place {
	var out []place
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, place{v[k], func(e any) { v[k] = e }, func() { delete(v, k) }})
			out = append(out, places(v[k])...)
		}
	case []any:
		for i := range v {
			out = append(out, place{v[i], func(e any) { v[i] = e }, nil})
			out = append(out, places(v[i])...)
		}
	}
	return out
}

// override changes one value of a document.
func (g generator) override(document map[string]any) {
	all := places(document)
	if len(all) == 0 {
		return // an earlier override has removed everything
	}
	at := all[g.IntN(len(all))]
	switch list, isList := at.value.([]any); {
	case isList && len(list) > 0 && g.IntN(2) == 0:
		at.replace(append(slices.Clone(list), g.copied(list[g.IntN(len(list))])))
	case at.remove != nil && g.IntN(4) == 0:
		at.remove()
	case g.IntN(3) == 0:
		at.replace(g.copied(all[g.IntN(len(all))].value))
	default:
		at.replace(g.value())
	}
}

// copied returns a copy of a part of a document, which may hold the place it goes to.
func (g generator) copied(part any) (out any) {
	text, err := json.Marshal(part)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		g.t.Fatal(err)
	}
	return out
}

// value returns a value that some key may have, and many may not.
func (g generator) value() any {
	fields := decode.Fields(schema.Defaults())
	var r schema.Rule
	for r.Holds == nil {
		r, _ = schema.RuleNamed(fields[g.IntN(len(fields))].Rule)
	}
	common := []any{
		nil, "", "x", "a b", "a\nb", "ü", strings.Repeat("x", 300), strings.Repeat("x", 11000), true, false, []any{}, []any{""},
		map[string]any{}, map[string]any{"": ""}, map[string]any{"count": 1}, 0, 1, 2, 3, -1, 1.5, 4096, 1 << 31, 1 << 40,
		"0.1", "s3://bucket/x", "arn:aws:iam::123456789012:role/x", "m5.xlarge", "c7g.xlarge", "emr-6.15.0", "Spark", "HBase",
	}
	switch {
	case g.IntN(2) == 0:
		return common[g.IntN(len(common))]
	case len(r.Values) > 0:
		return g.oneOf(r.Values...)
	case r.Max > 0:
		return g.between(r.Min-1, r.Max+1)
	case r.Pattern != nil:
		return randomMatch(g.Rand, r.Pattern)
	}
	return ""
}
