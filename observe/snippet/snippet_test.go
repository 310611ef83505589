package snippet_test

import (
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	"go.yaml.in/yaml/v3"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/observe/snippet"
	"github.com/emr-observatory/emr-observatory/platform"
)

// settings have a value that is hard to quote in each of the syntaxes.
func settings() observe.Settings {
	return observe.Settings{
		SecurityGroupID: "sg-observed", NodePolicyARN: "arn:aws-cn:iam::123456789012:policy/observed",
		Bootstrap: observe.Bootstrap{
			Path: "s3://bucket/artifacts/ab/bootstrap.sh", Args: []string{"10.0.0.5", "s3://bucket/artifacts/", "ab"}, Hash: "ab",
		},
		Configurations: observe.Merge([]observe.Classification{
			{Classification: "hive-site", Properties: map[string]string{"a.b": `'"${x}%{y}<\n&: #`, "c": "true", "d": "line\nline"}},
		}, observe.Configurations("1", nil)),
		Tags: platform.StackTags("dev"),
	}
}

// tagList are the tags as EMR's API has them.
func tagList() []map[string]string {
	return []map[string]string{
		{"Key": "observatory:project", "Value": platform.Project}, {"Key": "observatory:stack", "Value": "dev"},
	}
}

func write(t *testing.T, tool snippet.Tool) string {
	t.Helper()
	return writeOf(t, tool, settings())
}

func writeOf(t *testing.T, tool snippet.Tool, s observe.Settings) string {
	t.Helper()
	text, err := snippet.Write(tool, s)
	require.NoError(t, err)
	require.Contains(t, text, "--configurations FILE")
	require.Contains(t, text, settings().NodePolicyARN)
	return text
}

// Where the profiler reads every cluster, or there is none, a cluster of others needs no tags.
func TestNoTagsWhereNoneAreNeeded(t *testing.T) {
	s := settings()
	s.Tags = nil
	for _, tool := range snippet.Tools() {
		text := strings.ToLower(writeOf(t, tool, s))
		for key := range platform.StackTags("dev") {
			require.NotContains(t, text, key, tool)
		}
		require.NotContains(t, text, "tags", tool)
	}
}

// Terraform's own language evaluates what is pasted.
func TestTerraformParsesSnippet(t *testing.T) {
	text := write(t, snippet.Terraform)
	file, problems := hclsyntax.ParseConfig([]byte(text), "main.tf", hcl.InitialPos)
	require.False(t, problems.HasErrors(), "%s\n%s", problems, text)
	blocks := file.Body.(*hclsyntax.Body).Blocks
	require.Len(t, blocks, 2)
	get := func(body *hclsyntax.Body, name string) string {
		require.Contains(t, body.Attributes, name)
		v, problems := body.Attributes[name].Expr.Value(&hcl.EvalContext{
			Functions: map[string]function.Function{"jsonencode": stdlib.JSONEncodeFunc},
		})
		require.False(t, problems.HasErrors(), problems)
		if v.Type().IsTupleType() {
			var parts []string
			for _, part := range v.AsValueSlice() {
				parts = append(parts, part.AsString())
			}
			return strings.Join(parts, " ")
		}
		return v.AsString()
	}
	require.Equal(t, []string{"aws_emr_cluster", "CLUSTER"}, blocks[0].Labels)
	cluster := blocks[0].Body
	list, err := observe.Parse(get(cluster, "configurations_json"))
	require.NoError(t, err)
	require.Equal(t, settings().Configurations, list)
	require.Equal(t, "ec2_attributes", cluster.Blocks[0].Type)
	require.Equal(t, "sg-observed", get(cluster.Blocks[0].Body, "additional_master_security_groups"))
	require.Equal(t, "sg-observed", get(cluster.Blocks[0].Body, "additional_slave_security_groups"))
	require.Equal(t, "bootstrap_action", cluster.Blocks[1].Type)
	require.Equal(t, settings().Bootstrap.Path, get(cluster.Blocks[1].Body, "path"))
	require.Equal(t, strings.Join(settings().Bootstrap.Args, " "), get(cluster.Blocks[1].Body, "args"))
	tags, problems := cluster.Attributes["tags"].Expr.Value(nil)
	require.False(t, problems.HasErrors(), problems)
	require.Equal(t, "dev", tags.AsValueMap()["observatory:stack"].AsString())
	require.Len(t, tags.AsValueMap(), 2)
	require.Equal(t, []string{"aws_iam_role_policy_attachment", "observatory"}, blocks[1].Labels)
	waits := cluster.Attributes["depends_on"].Expr.Variables()
	require.Len(t, waits, 1, "a cluster whose nodes cannot fetch the bootstrap action ends")
	require.Equal(t, "aws_iam_role_policy_attachment", waits[0].RootName())
	require.Equal(t, settings().NodePolicyARN, get(blocks[1].Body, "policy_arn"))
}

// stackConfiguration is as in the CloudFormation User Guide, "AWS::EMR::Cluster
// Configuration".
type stackConfiguration struct {
	Classification          string               `yaml:"Classification"`
	ConfigurationProperties map[string]string    `yaml:"ConfigurationProperties"`
	Configurations          []stackConfiguration `yaml:"Configurations"`
}

func (c stackConfiguration) classification() observe.Classification {
	out := observe.Classification{Classification: c.Classification, Properties: c.ConfigurationProperties}
	if out.Properties == nil {
		out.Properties = map[string]string{}
	}
	for _, nested := range c.Configurations {
		out.Configurations = append(out.Configurations, nested.classification())
	}
	return out
}

func TestCloudFormationParsesSnippet(t *testing.T) {
	var template struct {
		Resources map[string]struct {
			Type       string `yaml:"Type"`
			Properties struct {
				Instances         map[string][]string  `yaml:"Instances"`
				BootstrapActions  []map[string]any     `yaml:"BootstrapActions"`
				Configurations    []stackConfiguration `yaml:"Configurations"`
				Tags              []map[string]string  `yaml:"Tags"`
				ManagedPolicyArns []string             `yaml:"ManagedPolicyArns"`
			} `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	decoder := yaml.NewDecoder(strings.NewReader(write(t, snippet.CloudFormation)))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&template))
	cluster := template.Resources["Cluster"]
	require.Equal(t, "AWS::EMR::Cluster", cluster.Type)
	require.Equal(t, map[string][]string{
		"AdditionalMasterSecurityGroups": {"sg-observed"}, "AdditionalSlaveSecurityGroups": {"sg-observed"},
	}, cluster.Properties.Instances)
	require.Equal(t, map[string]any{"Path": settings().Bootstrap.Path, "Args": []any{"10.0.0.5", "s3://bucket/artifacts/", "ab"}},
		cluster.Properties.BootstrapActions[0]["ScriptBootstrapAction"])
	var list []observe.Classification
	for _, c := range cluster.Properties.Configurations {
		list = append(list, c.classification())
	}
	require.Equal(t, settings().Configurations, list)
	require.Equal(t, tagList(), cluster.Properties.Tags)
	require.Equal(t, "AWS::IAM::Role", template.Resources["NodeRole"].Type)
	require.Equal(t, []string{settings().NodePolicyARN}, template.Resources["NodeRole"].Properties.ManagedPolicyArns)
}

//go:embed testdata/validate.py
var validateScript string

// requireRequest validates the RunJobFlow input that Python makes of the text, by the
// model of EMR's API that botocore has, and compares it with the settings.
func requireRequest(t *testing.T, tool snippet.Tool, text string) {
	t.Helper()
	python := os.Getenv("OBSERVATORY_PYTHON")
	if python == "" {
		python = "python3"
	}
	err := exec.CommandContext(t.Context(), python, "-c", "import botocore").Run()
	testenv.Require(t, err == nil, python+" has no boto3: `make test` installs it and sets OBSERVATORY_PYTHON")
	script := exec.CommandContext(t.Context(), python, "-c", validateScript, string(tool))
	script.Stdin = strings.NewReader(text)
	out, err := script.CombinedOutput()
	require.NoErrorf(t, err, "%s\n%s", out, text)
	var request struct {
		Instances        map[string][]string
		BootstrapActions []struct{ ScriptBootstrapAction map[string]any }
		Configurations   []observe.Classification
		Tags             []map[string]string
	}
	require.NoError(t, json.Unmarshal(out, &request), "%s", out)
	require.Equal(t, tagList(), request.Tags)
	require.Equal(t, []string{"sg-observed"}, request.Instances["AdditionalMasterSecurityGroups"])
	require.Equal(t, []string{"sg-observed"}, request.Instances["AdditionalSlaveSecurityGroups"])
	require.Len(t, request.BootstrapActions, 1)
	require.Equal(t, map[string]any{"Path": settings().Bootstrap.Path, "Args": []any{"10.0.0.5", "s3://bucket/artifacts/", "ab"}},
		request.BootstrapActions[0].ScriptBootstrapAction)
	require.Equal(t, settings().Configurations, request.Configurations)
}

func TestAirflowParsesSnippet(t *testing.T) {
	requireRequest(t, snippet.Airflow, write(t, snippet.Airflow))
}

func TestStepFunctionsParsesSnippet(t *testing.T) {
	text := write(t, snippet.StepFunctions)
	requireRequest(t, snippet.StepFunctions, text)
	require.Contains(t, text, "arn:aws-cn:states:::elasticmapreduce:createCluster.sync", "the account's partition")
}

// The shell splits the words, which Python then reads as the AWS CLI's options.
func TestShellParsesSnippet(t *testing.T) {
	text := write(t, snippet.CLI)
	syntax := exec.CommandContext(t.Context(), "sh", "-n")
	syntax.Stdin = strings.NewReader(text)
	out, err := syntax.CombinedOutput()
	require.NoErrorf(t, err, "%s\n%s", out, text)
	run := exec.CommandContext(t.Context(), "sh", "-eu")
	run.Stdin = strings.NewReader("aws() { [ \"$1\" = iam ] || printf '%s\\0' \"$@\"; }\n" + text)
	words, err := run.Output()
	require.NoError(t, err)
	requireRequest(t, snippet.CLI, string(words))
}

func TestUnknownToolIsRefused(t *testing.T) {
	_, err := snippet.Write("ansible", settings())
	require.ErrorContains(t, err, `"ansible": must be one of terraform, cloudformation, cli, airflow, stepfunctions`)
}
