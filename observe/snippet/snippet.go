// Package snippet writes observe.Settings in the syntax of the tools that start EMR
// clusters, to be pasted beside what such a cluster has already. It merges nothing:
// package observe does.
package snippet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Tool starts EMR clusters.
type Tool string

// The tools.
const (
	Terraform      Tool = "terraform"
	CloudFormation Tool = "cloudformation"
	CLI            Tool = "cli"
	Airflow        Tool = "airflow"
	StepFunctions  Tool = "stepfunctions"
)

// Tools lists them.
func Tools() []Tool { return []Tool{Terraform, CloudFormation, CLI, Airflow, StepFunctions} }

// nodeRole stands for the role of the cluster's instances, which its owner knows.
const nodeRole = "ROLE_OF_THE_NODES"

// advice is what a reader has to know who has a cluster already.
func advice() []string {
	return []string{
		"Beside what the cluster has: groups and policies are added, the bootstrap action comes first.",
		"EMR replaces configurations by their key. If the cluster has some, write them to a file and",
		"print this again with --configurations FILE.",
	}
}

// Write returns the text to paste.
func Write(tool Tool, s observe.Settings) (string, error) {
	writers := map[Tool]func(observe.Settings) (string, error){
		Terraform: terraform, CloudFormation: cloudFormation, CLI: commandLine, Airflow: airflow, StepFunctions: stepFunctions,
	}
	write, known := writers[tool]
	if !known {
		names := make([]string, 0, len(writers))
		for _, t := range Tools() {
			names = append(names, string(t))
		}
		return "", fmt.Errorf("tool: %q: must be one of %s; choose one with --for", tool, strings.Join(names, ", "))
	}
	text, err := write(s)
	if err != nil {
		return "", fmt.Errorf("write for %s: %w", tool, err)
	}
	return text, nil
}

// request is the part of RunJobFlow's input that the platform needs.
type request struct {
	Instances        instances
	BootstrapActions []bootstrapAction
	Configurations   []observe.Classification
	Tags             []tag `json:",omitempty"`
}

type tag struct {
	Key   string `yaml:"Key"`
	Value string `yaml:"Value"`
}

type instances struct {
	AdditionalMasterSecurityGroups []string `yaml:"AdditionalMasterSecurityGroups"`
	AdditionalSlaveSecurityGroups  []string `yaml:"AdditionalSlaveSecurityGroups"`
}

type bootstrapAction struct {
	Name                  string `yaml:"Name"`
	ScriptBootstrapAction script `yaml:"ScriptBootstrapAction"`
}

type script struct {
	Path string   `yaml:"Path"`
	Args []string `yaml:"Args"`
}

func requestOf(s observe.Settings) request {
	groups := []string{s.SecurityGroupID}
	return request{
		Instances: instances{groups, groups},
		BootstrapActions: []bootstrapAction{
			{platform.Name, script{s.Bootstrap.Path, s.Bootstrap.Args}},
		},
		Configurations: s.Configurations, Tags: tagsOf(s),
	}
}

// tagsOf lists the tags in the order of their keys.
func tagsOf(s observe.Settings) []tag {
	var out []tag
	for _, key := range slices.Sorted(maps.Keys(s.Tags)) {
		out = append(out, tag{key, s.Tags[key]})
	}
	return out
}

// commandLine writes options of the AWS CLI. It continues the lines, so that the
// cluster's own options can follow.
func commandLine(s observe.Settings) (string, error) {
	r := requestOf(s)
	var out strings.Builder
	comment(&out, append(advice(), "In --ec2-attributes the instance profile and the subnet are missing.")...)
	fmt.Fprintf(&out, "aws iam attach-role-policy --role-name %s --policy-arn %s\n", nodeRole, quote(s.NodePolicyARN))
	out.WriteString("aws emr create-cluster")
	for _, option := range []struct {
		name  string
		value any
	}{
		{"ec2-attributes", r.Instances},
		{"bootstrap-actions", []any{struct {
			Name, Path string
			Args       []string
		}{platform.Name, s.Bootstrap.Path, s.Bootstrap.Args}}},
		{"configurations", r.Configurations},
	} {
		text, err := toJSON(option.value, "")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, " \\\n  --%s %s", option.name, quote(text))
	}
	if len(s.Tags) > 0 {
		out.WriteString(" \\\n  --tags")
		for _, pair := range platform.TagPairs(s.Tags) {
			out.WriteString(" " + quote(pair))
		}
	}
	out.WriteString("\n")
	return out.String(), nil
}

// quote quotes a word for a POSIX shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// airflow writes a Python dictionary: JSON of texts, lists and objects is one.
func airflow(s observe.Settings) (string, error) {
	text, err := toJSON(requestOf(s), "    ")
	if err != nil {
		return "", err
	}
	var out strings.Builder
	comment(&out, slices.Concat([]string{"For EmrCreateJobFlowOperator(job_flow_overrides=…)."}, advice(), []string{
		"The role in JobFlowRole needs a policy, once:",
		"aws iam attach-role-policy --role-name " + nodeRole + " --policy-arn " + quote(s.NodePolicyARN),
	})...)
	fmt.Fprintf(&out, "job_flow_overrides = %s\n", text)
	return out.String(), nil
}

// stepFunctions writes a state of Amazon States Language, which is JSON and has its
// comments in a field.
func stepFunctions(s observe.Settings) (string, error) {
	notes := append(advice(), "The role in JobFlowRole needs the policy "+s.NodePolicyARN+".")
	text, err := toJSON(struct {
		Type, Resource, Comment string
		Parameters              request
	}{
		"Task", "arn:" + partition(s.NodePolicyARN) + ":states:::elasticmapreduce:createCluster.sync", strings.Join(notes, " "), requestOf(s),
	}, "  ")
	return text + "\n", err
}

// partition returns an ARN's: aws, aws-cn or aws-us-gov.
func partition(arn string) string {
	if parts := strings.SplitN(arn, ":", 3); len(parts) == 3 {
		return parts[1]
	}
	return "aws"
}

func comment(out *strings.Builder, lines ...string) {
	for _, line := range lines {
		out.WriteString("# " + line + "\n")
	}
}

func toJSON(value any, indent string) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // a reader has to recognise what is pasted
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		return "", fmt.Errorf("render JSON: %w", err)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}
