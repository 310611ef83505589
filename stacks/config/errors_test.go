package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/localcloud/rehearse"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// catalogue is testdata/errors.yaml.
type catalogue struct {
	Configuration []broken `json:"configuration"`
	Components    []broken `json:"components"`
	Services      []struct {
		Type   string         `json:"type"`
		Inputs map[string]any `json:"inputs"`
		Faults []string       `json:"faults"`
	} `json:"services"`
}

// broken is a configuration over an else valid one.
type broken struct {
	Set    map[string]string `json:"set"`
	Faults []string          `json:"faults"`
}

func readCatalogue(t *testing.T) catalogue {
	t.Helper()
	text, err := os.ReadFile("testdata/errors.yaml")
	require.NoError(t, err)
	var c catalogue
	require.NoError(t, yaml.UnmarshalStrict(text, &c))
	require.GreaterOrEqual(t, len(c.Configuration)+len(c.Components)+len(c.Services), 120, "a table read in part")
	return c
}

// told is a fault with all that it must say.
type told struct{ Path, Value, Rule, Remedy string }

// fourParts is what configuration's and components' faults offer.
type fourParts interface {
	Parts() (path, value, rule, remedy string)
}

// toldBy unfolds an error down to its faults; the order is the error's.
func toldBy(err error) []told {
	var f fourParts
	if parted, ok := err.(fourParts); ok { //nolint:errorlint // each error of the tree by itself
		f = parted
		path, value, rule, remedy := f.Parts()
		return []told{{path, value, rule, remedy}}
	}
	var out []told
	switch e := err.(type) { //nolint:errorlint // see above
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			out = append(out, toldBy(one)...)
		}
	case interface{ Unwrap() error }:
		out = toldBy(e.Unwrap())
	}
	return out
}

// requireTold holds faults against the paths of a case and against what every
// fault must say.
func requireTold(t *testing.T, want []string, got []told, all string) {
	t.Helper()
	var paths []string
	for _, f := range got {
		paths = append(paths, f.Path)
		for _, part := range []string{f.Path, f.Value, f.Rule, f.Remedy} {
			require.NotEmpty(t, part, "%+v", f)
		}
		require.Contains(t, all, f.Path+": ")
		require.Contains(t, all, f.Rule)
		require.Contains(t, all, f.Remedy)
	}
	require.ElementsMatch(t, want, paths, all)
	require.NotContains(t, all, "hunter2", "a secret is shown")
}

// refused runs the whole program on a broken configuration, in the way that
// `pulumi up` starts it: it must fail and register nothing.
func refused(t *testing.T, program pulumi.RunFunc, c broken) error {
	t.Helper()
	values := map[string]string{platform.Project + ":region": "us-east-1"}
	for k, v := range c.Set {
		values[platform.Project+":"+k] = v
	}
	environment, err := json.Marshal(values)
	require.NoError(t, err)
	t.Setenv(pulumi.EnvConfig, string(environment))
	rec, err := recorder.Run(program, recorder.WithConfig(values))
	require.Error(t, err)
	require.Empty(t, rec.Resources, "registered before the fault was told")
	require.Empty(t, rec.Invokes, "asked AWS before the fault was told")
	return err
}

func (c broken) text() string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(c.Set)) {
		parts = append(parts, k+": "+c.Set[k])
	}
	return strings.Join(parts, ", ")
}

// TestEveryErrorNamesAllFourParts runs the catalogue through what reads a
// configuration, what builds from it, and what stands behind that.
func TestEveryErrorNamesAllFourParts(t *testing.T) {
	c := readCatalogue(t)
	program := trial.Program(trial.Materials(t))
	var doc document
	doc.section("Configuration", "Told by `pulumi preview` and `pulumi up` before anything is registered.")
	for _, one := range c.Configuration {
		t.Run("configuration "+one.text(), func(t *testing.T) {
			doc.add(one.text(), requireRefused(t, program, one, platform.Project+":"))
		})
	}
	doc.section("Components", "The configuration is sound by itself; the component that would build it refuses, still before anything is registered.")
	for _, one := range c.Components {
		t.Run("component "+one.text(), func(t *testing.T) {
			_, err := config.Parse(withRegion(one.Set))
			require.NoError(t, err, "this is a fault of the configuration itself")
			doc.add(one.text(), requireRefused(t, program, one, ""))
		})
	}
	doc.section("Services", "What the local cloud's providers refuse in `Check`, as the services would: here as raw inputs of one resource, beside the SDK's types.")
	found := rehearsed(t, c)
	for i, one := range c.Services {
		t.Run(fmt.Sprintf("service %d %s", i, one.Type), func(t *testing.T) {
			lines := found[caseName(i)]
			require.Len(t, lines, len(one.Faults), "%v", lines)
			var faults []told
			for _, line := range lines {
				faults = append(faults, parseLine(t, line))
			}
			requireTold(t, one.Faults, faults, strings.Join(lines, "\n"))
			inputs, err := json.Marshal(one.Inputs)
			require.NoError(t, err)
			doc.add(one.Type+" "+string(inputs), faults)
		})
	}
	if !t.Failed() && doc.cases == len(c.Configuration)+len(c.Components)+len(c.Services) {
		doc.require(t)
	}
}

func requireRefused(t *testing.T, program pulumi.RunFunc, c broken, prefix string) []told {
	t.Helper()
	err := refused(t, program, c)
	var want []string
	for _, path := range c.Faults {
		want = append(want, prefix+path)
	}
	got := toldBy(err)
	slices.SortStableFunc(got, func(a, b told) int { return strings.Compare(a.Path, b.Path) })
	requireTold(t, want, got, err.Error())
	return got
}

func withRegion(set map[string]string) map[string]string {
	out := map[string]string{"region": "us-east-1"}
	maps.Copy(out, set)
	return out
}

// Callers that run the program inline check keys themselves: the same unknown
// ones, told the same way.
func TestUnknownKeysAreToldInlineToo(t *testing.T) {
	known := map[string]bool{}
	for _, f := range config.Fields() {
		known[f.Path] = true
	}
	n := 0
	for _, one := range readCatalogue(t).Configuration {
		var keys, want []string
		for k := range one.Set {
			keys = append(keys, platform.Project+":"+k)
			if !known[k] {
				want = append(want, platform.Project+":"+k)
			}
		}
		err := config.CheckKeys(keys)
		if len(want) == 0 {
			require.NoError(t, err)
			continue
		}
		n++
		requireTold(t, want, toldBy(err), err.Error())
	}
	require.GreaterOrEqual(t, n, 3)
}

func caseName(i int) string { return fmt.Sprintf("case-%d", i) }

// raw registers a resource with inputs as they are.
func raw(ctx *pulumi.Context, typ, name string, inputs map[string]any) error {
	var r pulumi.CustomResourceState
	return ctx.RegisterResource(typ, name, pulumi.ToMap(inputs), &r)
}

// rehearsed previews all broken resources in one run of the real engine, which
// must tell the faults of all; the result is by logical name.
func rehearsed(t *testing.T, c catalogue) map[string][]string {
	t.Helper()
	program := func(ctx *pulumi.Context) error {
		var faults []error
		for i, one := range c.Services {
			faults = append(faults, raw(ctx, one.Type, caseName(i), one.Inputs))
		}
		return errors.Join(faults...)
	}
	report, err := rehearse.Preview(t.Context(), program, rehearse.Options{PulumiCommand: trial.Pulumi(t), WorkDir: t.TempDir()})
	require.Error(t, err)
	out := map[string][]string{}
	line := regexp.MustCompile(`^urn:\S+::(case-\d+): (.*)$`)
	for _, f := range report.Faults {
		if m := line.FindStringSubmatch(f); m != nil {
			out[m[1]] = append(out[m[1]], m[2])
		}
	}
	return out
}

// parseLine reads a provider's fault: path: rule, is value; remedy [source].
func parseLine(t *testing.T, line string) told {
	t.Helper()
	parts := regexp.MustCompile(`^(.+?): (.+?)(?:, is ([^;]+))?; (.+?)(?: \[[^\]]+\])?$`).FindStringSubmatch(line)
	require.NotNil(t, parts, line)
	f := told{Path: parts[1], Rule: parts[2], Value: parts[3], Remedy: parts[4]}
	if strings.HasPrefix(f.Path, "aws") { // a type token holds a colon
		token, rule, _ := strings.Cut(line, ": ")
		f.Path, f.Rule = token, strings.SplitN(rule, ", is ", 2)[0]
	}
	if f.Value == "" && f.Rule == "required property is missing" {
		f.Value = "missing"
	}
	return f
}

// TestARefusedResourceIsNotMade brings broken resources up, one at a time:
// the engine fails and makes none.
func TestARefusedResourceIsNotMade(t *testing.T) {
	c := readCatalogue(t)
	now := 0
	program := func(ctx *pulumi.Context) error {
		return raw(ctx, c.Services[now].Type, caseName(now), c.Services[now].Inputs)
	}
	stage, err := rehearse.Open(t.Context(), program, rehearse.Options{PulumiCommand: trial.Pulumi(t), WorkDir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stage.Close()) })
	for _, i := range []int{0, 1, 2, 13, 22, len(c.Services) - 1} { // one of each kind of fault
		now = i
		_, err := stage.Stack.Up(t.Context())
		require.Error(t, err, c.Services[i].Type)
		for _, path := range c.Services[i].Faults {
			require.ErrorContains(t, err, path+": ")
		}
		state, err := stage.Stack.Export(t.Context())
		require.NoError(t, err)
		require.NotContains(t, string(state.Deployment), caseName(i))
	}
}

// document renders docs/reference/errors.md.
type document struct {
	b     strings.Builder
	cases int
}

func (d *document) section(title, what string) {
	fmt.Fprintf(&d.b, "\n## %s\n\n%s\n\n| Given | Path | Value | Rule | Remedy |\n|---|---|---|---|---|\n", title, what)
}

func (d *document) add(given string, faults []told) {
	d.cases++
	const longest = 100
	if len(given) > longest {
		given = given[:longest] + "…"
	}
	cell := func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "|", `\|`), "\n", " ") }
	for _, f := range faults {
		fmt.Fprintf(&d.b, "| `%s` | `%s` | %s | %s | %s |\n", cell(given), cell(f.Path), cell(f.Value), cell(f.Rule), cell(f.Remedy))
		given = "″"
	}
}

func (d *document) require(t *testing.T) {
	t.Helper()
	text := `# Errors

Rendered by the tests of package stacks/config from what ` + "`stacks/config/testdata/errors.yaml`" + ` really meets; run ` + "`make generate`" + `.

Every error says four things: the path, the value found, the rule, and the remedy; a value that may be secret is not shown.
All faults of a stack's configuration are told at once, and nothing is changed before there is none.
` + d.b.String()
	at := filepath.Join(root, "docs/reference/errors.md")
	if *update {
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
	}
	got, err := os.ReadFile(at)
	require.NoError(t, err)
	require.Equal(t, text, string(got), "stale: run `make generate`")
}
