package config_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

var update = flag.Bool("update", false, "write the rendered files")

const root = "../.."

// stackValues reads a stack file as the engine passes it: scalars bare, everything
// else as JSON.
func stackValues(t *testing.T, name string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Pulumi."+name+".yaml"))
	require.NoError(t, err)
	var file struct {
		Config map[string]any `json:"config"`
	}
	require.NoError(t, yaml.UnmarshalStrict(text, &file))
	out := map[string]string{}
	for k, v := range file.Config {
		bare, ours := strings.CutPrefix(k, platform.Project+":")
		require.True(t, ours, "%s is outside the project's namespace", k)
		if s, isText := v.(string); isText {
			out[bare] = s
			continue
		}
		b, err := json.Marshal(v)
		require.NoError(t, err)
		out[bare] = string(b)
	}
	require.NotEmpty(t, out)
	return out
}

func TestStackFilesAreValid(t *testing.T) {
	dev, err := config.Parse(stackValues(t, "dev"))
	require.NoError(t, err)
	require.False(t, dev.Ephemeral)
	require.Empty(t, dev.AWSEndpoints.S3)
	require.Equal(t, []schema.Volume{{Type: "gp3", SizeGiB: 128, PerInstance: 1}}, dev.Clusters["main"].Core.EBS)

	local, err := config.Parse(stackValues(t, "local"))
	require.NoError(t, err)
	require.True(t, local.Ephemeral)
	require.Equal(t, 2, local.Clusters["main"].Core.Count)
	require.NotEmpty(t, local.AWSEndpoints.S3)
	require.Equal(t, dev.Clusters["main"].ReleaseLabel, local.Clusters["main"].ReleaseLabel)
}

func TestRenderedFilesAreCurrent(t *testing.T) {
	project, err := config.ProjectFile()
	require.NoError(t, err)
	for path, want := range map[string][]byte{"Pulumi.yaml": project, "docs/reference/config.md": config.Reference()} {
		at := filepath.Join(root, path)
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
			require.NoError(t, os.WriteFile(at, want, 0o644))
		}
		got, err := os.ReadFile(at)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "%s is stale: run `make generate`", path)
	}
}

// The engine finds every key in Pulumi.yaml, with type, description, and a default
// that the program decodes to its own.
func TestPulumiReadsProjectFile(t *testing.T) {
	project, err := workspace.LoadProject(filepath.Join(root, "Pulumi.yaml"))
	require.NoError(t, err)
	require.Equal(t, platform.Project, project.Name.String())
	require.Equal(t, platform.PulumiVersions(), project.RequiredPulumiVersion)
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	require.Contains(t, string(readme), "(https://www.pulumi.com/docs/install/) "+platform.MinPulumiVersion+" or later")
	declared := map[string]string{"region": "us-east-1"}
	top := 0
	for _, f := range config.Fields() {
		if f.Depth > 0 {
			continue
		}
		top++
		key, ok := project.Config[f.Path]
		require.True(t, ok, "Pulumi.yaml lacks %s", f.Path)
		require.NotNil(t, key.Type, f.Path)
		require.NotEmpty(t, key.Description, f.Path)
		if text, isText := key.Default.(string); isText { // passed bare
			declared[f.Path] = text
		} else if f.Path != "region" {
			b, err := json.Marshal(key.Default)
			require.NoError(t, err)
			declared[f.Path] = string(b)
		}
	}
	require.Len(t, project.Config, top)
	got, err := config.Parse(declared)
	require.NoError(t, err)
	want := schema.Defaults()
	want.Region = "us-east-1"
	require.Equal(t, want, got)
}

func TestDocumentsEveryField(t *testing.T) {
	fields := config.Fields()
	require.Greater(t, len(fields), 40)
	for _, f := range fields {
		require.NotEmpty(t, f.Help, f.Path)
		if f.Type != "object" && f.Type != "boolean" && f.Type != "array of object" {
			require.NotEmpty(t, f.Rule, f.Path)
		}
	}
}

func TestPartialObjectKeepsOtherDefaults(t *testing.T) {
	cfg, err := config.Parse(map[string]string{
		"region":   "eu-west-1",
		"clusters": `{"main":{"core":{"count":4},"tasks":{"spot":{"bidPrice":"0.10"}}}}`,
	})
	require.NoError(t, err)
	require.Equal(t, 4, cfg.Clusters["main"].Core.Count)
	require.Equal(t, "m5.xlarge", cfg.Clusters["main"].Core.InstanceType)
	require.Equal(t, 1, cfg.Clusters["main"].Tasks["spot"].Count)
	require.Equal(t, "0.10", cfg.Clusters["main"].Tasks["spot"].BidPrice)
}

// paths returns the paths of an error's violations. It fails on any other error.
func paths(t *testing.T, err error) []string {
	t.Helper()
	require.Error(t, err)
	found := violation.All(err)
	require.Len(t, found, strings.Count(err.Error(), "\n")+1, "not only violations: %v", err)
	var out []string
	for _, v := range found {
		path, ours := strings.CutPrefix(v.Path, platform.Project+":")
		require.True(t, ours, v.Path)
		out = append(out, path)
	}
	return out
}

func TestReportsAllViolationsAtOnce(t *testing.T) {
	_, err := config.Parse(map[string]string{
		"ephemeral": "yes", "colour": "red", "controlNode": `{"arch":"sparc","dataVolumeGiB":"10"}`, "clusters": `{"main":{"core":{"count":-1}}}`,
	})
	want := []string{"region", "ephemeral", "colour", "controlNode.arch", "controlNode.dataVolumeGiB", "clusters.main.core.count"}
	require.ElementsMatch(t, want, paths(t, err))
}

// load runs config.Load in a recorded program.
func load(t *testing.T, opts ...recorder.Option) (schema.Config, error) {
	t.Helper()
	var cfg schema.Config
	_, err := recorder.Run(func(ctx *pulumi.Context) error {
		var err error
		if cfg, err = config.Load(ctx); err != nil {
			return err
		}
		var c pulumi.ResourceState
		return ctx.RegisterComponentResource("observatory:test:Loaded", "loaded", &c)
	}, opts...)
	return cfg, err
}

func TestLoadReadsTheStack(t *testing.T) {
	full := map[string]string{}
	for k, v := range stackValues(t, "dev") {
		full[platform.Project+":"+k] = v
	}
	cfg, err := load(t, recorder.WithConfig(full))
	require.NoError(t, err)
	want, err := config.Parse(stackValues(t, "dev"))
	require.NoError(t, err)
	require.Equal(t, want, cfg)
}

func TestLoadRefusesSecretsWithoutShowingThem(t *testing.T) {
	_, err := load(t,
		recorder.WithConfig(map[string]string{platform.Project + ":region": "us-east-1"}),
		recorder.WithSecrets(map[string]string{platform.Project + ":tags": `{"owner":"hunter2"}`}))
	require.ErrorContains(t, err, platform.Project+":tags: [secret]")
	require.NotContains(t, err.Error(), "hunter2")
}

func TestLoadNamesMisspeltKeys(t *testing.T) {
	values := map[string]string{platform.Project + ":region": "us-east-1", platform.Project + ":ephemeal": "true", "aws:region": "us-east-1"}
	b, err := json.Marshal(values)
	require.NoError(t, err)
	t.Setenv(pulumi.EnvConfig, string(b)) // as `pulumi up` starts the program
	_, err = load(t, recorder.WithConfig(values))
	require.ErrorContains(t, err, platform.Project+":ephemeal:")
	require.ErrorContains(t, err, "did you mean ephemeral?")
}

func TestCheckKeysNamesTheUnknown(t *testing.T) {
	require.NoError(t, config.CheckKeys([]string{platform.Project + ":clusters", "aws:region"}))
	err := config.CheckKeys([]string{platform.Project + ":clusters", platform.Project + ":ermine", platform.Project + ":regoin"})
	require.ErrorContains(t, err, platform.Project+":ermine:")
	require.ErrorContains(t, err, platform.Project+":regoin:")
	require.Len(t, paths(t, err), 2)
}
