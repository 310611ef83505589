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
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// catalogue is testdata/errors.yaml.
type catalogue struct {
	Configuration []invalidConfig `json:"configuration"`
	Services      []struct {
		Type       string         `json:"type"`
		Inputs     map[string]any `json:"inputs"`
		Violations []string       `json:"violations"` // paths
	} `json:"services"`
}

// invalidConfig sets keys over an otherwise valid configuration.
type invalidConfig struct {
	Set        map[string]string `json:"set"`
	Violations []string          `json:"violations"` // paths
}

func readCatalogue(t *testing.T) catalogue {
	t.Helper()
	var c catalogue
	for _, file := range []string{"testdata/errors.yaml", "testdata/clusters.yaml"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var part catalogue
		require.NoError(t, yaml.UnmarshalStrict(text, &part), file)
		c.Configuration = append(c.Configuration, part.Configuration...)
		c.Services = append(c.Services, part.Services...)
	}
	require.GreaterOrEqual(t, len(c.Configuration)+len(c.Services), 120, "the table is incomplete")
	return c
}

// requireViolations requires violations of exactly these paths, each with all four
// parts, which text, the error's, must contain.
func requireViolations(t *testing.T, paths []string, got []violation.Violation, text string) {
	t.Helper()
	var found []string
	for _, v := range got {
		found = append(found, v.Path)
		for _, part := range []string{v.Path, v.Value, v.Rule, v.Remedy} {
			require.NotEmpty(t, part, "%+v", v)
		}
		require.Contains(t, text, v.Path+": ")
		require.Contains(t, text, v.Rule)
		require.Contains(t, text, v.Remedy)
	}
	require.ElementsMatch(t, paths, found, text)
	require.NotContains(t, text, "hunter2", "a secret is shown")
}

// runInvalid runs the whole program with an invalid configuration, as `pulumi up`
// starts it, and returns its error. It must register nothing.
func runInvalid(t *testing.T, program pulumi.RunFunc, c invalidConfig) error {
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
	require.Empty(t, rec.Resources, "registered before the violation was reported")
	require.Empty(t, rec.Invokes, "called AWS before the violation was reported")
	return err
}

// text formats the keys that the case sets.
func (c invalidConfig) text() string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(c.Set)) {
		parts = append(parts, k+": "+c.Set[k])
	}
	return strings.Join(parts, ", ")
}

// TestEveryErrorNamesAllFourParts runs the program with each invalid
// configuration, and the provider servers with each invalid resource.
func TestEveryErrorNamesAllFourParts(t *testing.T) {
	c := readCatalogue(t)
	program := trial.Program(trial.Materials(t))
	var doc document
	doc.section("Configuration", "Reported by `pulumi preview` and `pulumi up` before anything is registered.")
	for _, one := range c.Configuration {
		t.Run("configuration "+one.text(), func(t *testing.T) {
			doc.add(one.text(), requireRefused(t, program, one))
		})
	}
	doc.section("Services", "What the local cloud's providers refuse in `Check`, as the services would. "+
		"Given are the raw inputs of one resource, which the SDK's types would not permit.")
	found := sync.OnceValue(func() map[string][]string { return previewInvalidResources(t, c) })
	for i, one := range c.Services {
		t.Run(fmt.Sprintf("service %d %s", i, one.Type), func(t *testing.T) {
			lines := found()[caseName(i)]
			require.Len(t, lines, len(one.Violations), "%v", lines)
			var violations []violation.Violation
			for _, line := range lines {
				violations = append(violations, parseLine(t, line))
			}
			requireViolations(t, one.Violations, violations, strings.Join(lines, "\n"))
			inputs, err := json.Marshal(one.Inputs)
			require.NoError(t, err)
			doc.add(one.Type+" "+string(inputs), violations)
		})
	}
	if !t.Failed() && doc.cases == len(c.Configuration)+len(c.Services) {
		doc.requireUpToDate(t)
	}
}

// requireRefused requires that the program refuses a configuration with exactly
// its violations, which it returns sorted by path.
func requireRefused(t *testing.T, program pulumi.RunFunc, c invalidConfig) []violation.Violation {
	t.Helper()
	err := runInvalid(t, program, c)
	var want []string
	for _, path := range c.Violations {
		want = append(want, platform.Project+":"+path)
	}
	got := violation.All(err)
	slices.SortStableFunc(got, func(a, b violation.Violation) int { return strings.Compare(a.Path, b.Path) })
	requireViolations(t, want, got, err.Error())
	return got
}

// Callers that run the program inline use CheckKeys, which must report the same
// unknown keys.
func TestCheckKeysReportsTheSameUnknownKeys(t *testing.T) {
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
		requireViolations(t, want, violation.All(err), err.Error())
	}
	require.GreaterOrEqual(t, n, 3)
}

func caseName(i int) string { return fmt.Sprintf("case-%d", i) }

// registerRaw registers a resource with untyped inputs.
func registerRaw(ctx *pulumi.Context, typ, name string, inputs map[string]any) error {
	var r pulumi.CustomResourceState
	return ctx.RegisterResource(typ, name, pulumi.ToMap(inputs), &r)
}

// previewInvalidResources previews all invalid resources in one run of the real
// engine and returns the reported violations by logical name.
func previewInvalidResources(t *testing.T, c catalogue) map[string][]string {
	t.Helper()
	program := func(ctx *pulumi.Context) error {
		var errs []error
		for i, one := range c.Services {
			errs = append(errs, registerRaw(ctx, one.Type, caseName(i), one.Inputs))
		}
		return errors.Join(errs...)
	}
	report, err := rehearse.Preview(t.Context(), program, rehearse.Options{PulumiCommand: trial.Pulumi(t), WorkDir: t.TempDir()})
	require.Error(t, err)
	out := map[string][]string{}
	line := regexp.MustCompile(`^urn:\S+::(case-\d+): (.*)$`)
	for _, problem := range report.Problems {
		if m := line.FindStringSubmatch(problem); m != nil {
			out[m[1]] = append(out[m[1]], m[2])
		}
	}
	return out
}

// parseLine parses a provider's violation: path: rule, is value; remedy [source].
func parseLine(t *testing.T, line string) violation.Violation {
	t.Helper()
	parts := regexp.MustCompile(`^(.+?): (.+?)(?:, is ([^;]+))?; (.+?)(?: \[[^\]]+\])?$`).FindStringSubmatch(line)
	require.NotNil(t, parts, line)
	v := violation.Violation{Path: parts[1], Rule: parts[2], Value: parts[3], Remedy: parts[4]}
	if strings.HasPrefix(v.Path, "aws") { // a type token contains a colon
		token, rule, _ := strings.Cut(line, ": ")
		v.Path, v.Rule = token, strings.SplitN(rule, ", is ", 2)[0]
	}
	if v.Value == "" && v.Rule == "required property is missing" {
		v.Value = "missing"
	}
	return v
}

// TestInvalidResourceIsNotCreated runs an update with one invalid resource at a
// time: it fails and creates nothing.
func TestInvalidResourceIsNotCreated(t *testing.T) {
	c := readCatalogue(t)
	now := 0
	program := func(ctx *pulumi.Context) error {
		return registerRaw(ctx, c.Services[now].Type, caseName(now), c.Services[now].Inputs)
	}
	stage, err := rehearse.Open(t.Context(), program, rehearse.Options{PulumiCommand: trial.Pulumi(t), WorkDir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stage.Close()) })
	for _, i := range []int{0, 1, 2, 13, 22, len(c.Services) - 1} { // one of each kind of violation
		now = i
		_, err := stage.Stack.Up(t.Context())
		require.Error(t, err, c.Services[i].Type)
		for _, path := range c.Services[i].Violations {
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

func (d *document) section(title, introduction string) {
	fmt.Fprintf(&d.b, "\n## %s\n\n%s\n\n| Given | Path | Value | Rule | Remedy |\n|---|---|---|---|---|\n", title, introduction)
}

// add adds one row per violation of a case.
func (d *document) add(given string, violations []violation.Violation) {
	d.cases++
	const longest = 100
	if len(given) > longest {
		given = given[:longest] + "…"
	}
	cell := func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "|", `\|`), "\n", " ") }
	for _, v := range violations {
		fmt.Fprintf(&d.b, "| `%s` | `%s` | %s | %s | %s |\n", cell(given), cell(v.Path), cell(v.Value), cell(v.Rule), cell(v.Remedy))
		given = "″"
	}
}

func (d *document) requireUpToDate(t *testing.T) {
	t.Helper()
	text := `# Errors

` + "`make generate` writes this page: the tests of stacks/config load every configuration in `stacks/config/testdata/errors.yaml` " +
		`and record the errors.

Every error names the path, the value, the rule and the remedy. It hides a value that may be secret.
All violations in a stack's configuration are reported together, before anything is changed.
` + d.b.String()
	at := filepath.Join(root, "docs/reference/errors.md")
	if *update {
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
	}
	got, err := os.ReadFile(at)
	require.NoError(t, err)
	require.Equal(t, text, string(got), "stale: run `make generate`")
}
