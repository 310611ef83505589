package schema_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/decode"
	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/presets"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// everyKey is testdata/everykey.yaml: clusters by stack and key.
type everyKey map[string]map[string]map[string]any

func readEveryKey(t *testing.T) everyKey {
	t.Helper()
	text, err := os.ReadFile("testdata/everykey.yaml")
	require.NoError(t, err)
	var all everyKey
	require.NoError(t, yaml.UnmarshalStrict(text, &all))
	require.Len(t, all, 3)
	all["presets"] = readGuide(t)
	return all
}

// readGuide returns the clusters of the guide of architectures, by key: each preset once.
func readGuide(t *testing.T) map[string]map[string]any {
	t.Helper()
	text, err := os.ReadFile("../../docs/guides/architectures.md")
	require.NoError(t, err)
	out, used := map[string]map[string]any{}, []string{}
	for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		require.LessOrEqual(t, strings.Count(block, "\n"), 11, "ten lines for a cluster")
		var keys map[string]map[string]map[string]any
		require.NoError(t, yaml.UnmarshalStrict([]byte(strings.ReplaceAll(block, "BUCKET", "bucket")), &keys))
		for key, cluster := range keys["emr-observatory:clusters"] {
			out[key] = cluster
			used = append(used, fmt.Sprint(cluster["preset"]))
		}
	}
	slices.Sort(used)
	require.Equal(t, presets.Names(), used)
	return out
}

// values returns the configuration of one of the stacks, with each of its clusters once
// for each of some releases.
func (e everyKey) values(t *testing.T, stack string, releases map[string]string) map[string]string {
	t.Helper()
	clusters := map[string]any{}
	for key, cluster := range e[stack] {
		for suffix, release := range releases {
			of := map[string]any{"releaseLabel": release}
			for k, v := range cluster {
				of[k] = v
			}
			clusters[key+"-"+suffix] = of
		}
	}
	text, err := json.Marshal(clusters)
	require.NoError(t, err)
	ephemeral := fmt.Sprint(stack != "kept" && stack != "presets")
	return map[string]string{"region": "us-east-1", "ephemeral": ephemeral, "clusters": string(text)}
}

// oldestAndNewest are the releases at both ends of those that the program takes.
func oldestAndNewest() map[string]string {
	releases := facts.ReleaseFile().Releases
	return map[string]string{"old": releases[0].Label, "new": releases[len(releases)-1].Label}
}

// oneValue lists keys that no cluster sets to another value than its default, and why.
func oneValue() map[string]string {
	const provider = "the provider has it for task groups only"
	return map[string]string{
		"startedBy":          "it needs a schedule; stacks/changes and components/emr have one",
		"master.autoScaling": "EMR scales core and task groups", "master.ebsOptimized": provider, "core.ebsOptimized": provider,
		"master.configurations": provider, "core.configurations": provider,
		"tasks.*.ebs.throughput":                  "the provider's task groups have none",
		"core.autoScaling.rules.periodSeconds":    "EMR sends its metrics every five minutes",
		"tasks.*.autoScaling.rules.periodSeconds": "the same", "fleets.master.types.weight": "a primary node is one unit",
		"fleets.master.types.ebs.throughput": "the provider's fleets have none", "fleets.core.types.ebs.throughput": "the same",
		"fleets.task.types.ebs.throughput": "the same",
	}
}

// TestEveryKeyIsSetSomewhere requires each key of the type to have another value than
// its default in some cluster of the file: what is set nowhere, no rehearsal has tried.
func TestEveryKeyIsSetSomewhere(t *testing.T) {
	all, set := readEveryKey(t), map[string]bool{}
	for stack := range all {
		cfg, err := config.Parse(all.values(t, stack, oldestAndNewest()))
		require.NoError(t, err)
		for _, c := range cfg.Clusters {
			markSet(reflect.ValueOf(c), defaultsOf(reflect.TypeFor[schema.Cluster]()), "", set)
		}
	}
	exceptions, used := oneValue(), map[string]bool{}
	for _, f := range config.Fields() {
		key, ofCluster := strings.CutPrefix(f.Path, "clusters.*.")
		if !ofCluster {
			continue
		}
		excepted := ""
		for e := range exceptions {
			if key == e || strings.HasPrefix(key, e+".") {
				excepted, used[e] = e, true
			}
		}
		require.Equal(t, excepted == "", set[key], "%s: no cluster sets it, or its exception is out of date", key)
	}
	require.Len(t, used, len(exceptions), "exceptions that are no keys")
}

// markSet adds the keys of a struct that differ from its defaults, those below included.
func markSet(v, defaults reflect.Value, prefix string, set map[string]bool) {
	for i := range v.NumField() {
		field, unset, path := v.Field(i), defaults.Field(i), prefix+decode.Key(v.Type().Field(i))
		if !reflect.DeepEqual(field.Interface(), unset.Interface()) {
			set[path] = true
		}
		entries, below := []reflect.Value{}, path+"."
		switch field.Kind() {
		case reflect.Struct:
			markSet(field, unset, below, set)
		case reflect.Pointer:
			if !field.IsNil() {
				entries = append(entries, field.Elem())
			}
		case reflect.Slice:
			for j := range field.Len() {
				entries = append(entries, field.Index(j))
			}
		case reflect.Map:
			below = path + ".*."
			for _, k := range field.MapKeys() {
				entries = append(entries, field.MapIndex(k))
			}
		}
		for _, e := range entries {
			if e.Kind() == reflect.Struct {
				markSet(e, defaultsOf(e.Type()), below, set)
			}
		}
	}
}

// defaultsOf returns a section with its defaults.
func defaultsOf(t reflect.Type) reflect.Value {
	v := reflect.New(t)
	if e, ok := v.Interface().(decode.Defaulter); ok {
		e.SetDefaults()
	}
	return v.Elem()
}

// TestClustersOfEveryKeyStayAsTheyAre creates the clusters of each stack on the real
// engine, those that it runs over EMR's API without nodes. Nothing violates a rule of the
// services, an update changes nothing, and a refresh reads back what was given.
func TestClustersOfEveryKeyStayAsTheyAre(t *testing.T) {
	all := readEveryKey(t)
	for _, c := range []struct {
		stack    string
		releases map[string]string
		then     func(*testing.T, *platformStack)
	}{
		{"ephemeral", oldestAndNewest(), testDestroyed}, {"primaries", oldestAndNewest(), testDestroyed},
		{"presets", presetReleases(), testEnded}, {"kept", oldestAndNewest(), testResized},
	} {
		t.Run(c.stack, func(t *testing.T) {
			p := openPlatform(t, all.values(t, c.stack, c.releases), c.stack != "primaries")
			p.up(t)
			p.requireNoChange(t)
			p.refresh(t)
			p.requireNoChange(t)
			c.then(t, p)
		})
	}
}

// presetReleases is the newest release, and in the long form the oldest, too: presets
// differ between the two.
func presetReleases() map[string]string {
	releases := oldestAndNewest()
	if !testenv.Long() {
		delete(releases, "old")
	}
	return releases
}

// testEnded leaves a stack that refuses to be destroyed, as it should.
func testEnded(*testing.T, *platformStack) {}

func testDestroyed(t *testing.T, p *platformStack) {
	_, err := p.Stack.Destroy(t.Context())
	require.NoError(t, err)
}

// testResized changes counts through EMR's API. Where EMR scales, they stay; elsewhere
// preview shows the difference and an update takes it back.
func testResized(t *testing.T, p *platformStack) {
	scaled := map[string]int32{}
	for _, release := range []string{"old", "new"} {
		for _, key := range []string{"managed-", "rules-"} {
			for _, name := range []string{"core", "task-spot"} {
				p.resizeGroup(t, key+release, name, 4)
				scaled[key+release+"/"+name] = 4
			}
		}
		p.resizeFleet(t, "scaled-fleets-"+release, "core", 3)
		p.resizeFleet(t, "scaled-fleets-"+release, "task", 3)
	}
	p.refresh(t)
	p.requireNoChange(t)
	for path, count := range scaled {
		key, name, _ := strings.Cut(path, "/")
		require.Equal(t, count, *p.group(t, key, name).RequestedInstanceCount, path)
	}
	requireScaledCountsNoted(t, p)

	var drifted []string
	for _, release := range []string{"old", "new"} {
		p.resizeGroup(t, "groups-"+release, "core", 5)
		p.resizeGroup(t, "groups-"+release, "task-spot", 1)
		p.resizeFleet(t, "fleets-"+release, "task", 9)
		drifted = append(drifted, "emr-groups-"+release+"-cluster", "emr-groups-"+release+"-task-spot", "emr-fleets-"+release+"-task")
	}
	p.refresh(t)
	plan, err := changes.Preview(t.Context(), p.Stack)
	require.NoError(t, err)
	slices.Sort(drifted)
	require.Equal(t, drifted, plan.Names(changes.Updated), "%s", plan)
	require.Len(t, plan, len(drifted), "%s", plan)
	p.up(t)
	for _, release := range []string{"old", "new"} {
		require.EqualValues(t, 3, *p.group(t, "groups-"+release, "core").RequestedInstanceCount)
		require.EqualValues(t, 2, *p.group(t, "groups-"+release, "task-spot").RequestedInstanceCount)
		require.EqualValues(t, 4, *p.fleet(t, "fleets-"+release, "task").TargetOnDemandCapacity)
	}
	p.requireNoChange(t)
}

// requireScaledCountsNoted edits counts that EMR owns. No group changes, and a preview
// says why.
func requireScaledCountsNoted(t *testing.T, p *platformStack) {
	t.Helper()
	unedited := p.values
	p.values = maps.Clone(unedited)
	defer func() { p.values = unedited }()
	var clusters map[string]map[string]any
	require.NoError(t, json.Unmarshal([]byte(unedited["clusters"]), &clusters))
	section := func(cluster, key string) map[string]any { return clusters[cluster][key].(map[string]any) }
	clusters["managed-old"]["core"] = map[string]any{"count": 2}
	section("rules-old", "core")["count"] = 3
	section("scaled-fleets-old", "fleets")["core"].(map[string]any)["onDemand"] = 4
	text, err := json.Marshal(clusters)
	require.NoError(t, err)
	p.values["clusters"] = string(text)

	preview, err := p.Stack.Preview(t.Context())
	require.NoError(t, err)
	for cluster, keys := range map[string]string{
		"managed-old": "core.count, tasks.spot.count", "rules-old": "core.count, tasks.spot.count",
		"scaled-fleets-old": "fleets.core.onDemand, fleets.core.spot, fleets.task.onDemand, fleets.task.spot",
	} {
		require.Contains(t, preview.StdOut, "clusters."+cluster+": EMR scales this cluster: once it runs, changing "+keys+" has no effect")
	}
	plan, err := changes.Preview(t.Context(), p.Stack)
	require.NoError(t, err)
	require.Empty(t, plan, "%s", plan)
}
