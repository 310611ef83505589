package snippet

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"go.yaml.in/yaml/v3"

	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/platform"
)

const policyResource = "aws_iam_role_policy_attachment"

// terraform writes the parts of an aws_emr_cluster, and the attachment of the policy.
func terraform(s observe.Settings) (string, error) {
	configurations, err := value(s.Configurations)
	if err != nil {
		return "", err
	}
	args, err := value(s.Bootstrap.Args)
	if err != nil {
		return "", err
	}
	file := hclwrite.NewEmptyFile()
	cluster := file.Body().AppendNewBlock("resource", []string{"aws_emr_cluster", "CLUSTER"}).Body()
	attributes := cluster.AppendNewBlock("ec2_attributes", nil).Body()
	attributes.SetAttributeValue("additional_master_security_groups", cty.StringVal(s.SecurityGroupID))
	attributes.SetAttributeValue("additional_slave_security_groups", cty.StringVal(s.SecurityGroupID))
	action := cluster.AppendNewBlock("bootstrap_action", nil).Body()
	action.SetAttributeValue("name", cty.StringVal(platform.Name))
	action.SetAttributeValue("path", cty.StringVal(s.Bootstrap.Path))
	action.SetAttributeValue("args", args)
	cluster.SetAttributeRaw("configurations_json", hclwrite.TokensForFunctionCall("jsonencode", hclwrite.TokensForValue(configurations)))
	if len(s.Tags) > 0 {
		tags, err := value(s.Tags)
		if err != nil {
			return "", err
		}
		cluster.SetAttributeValue("tags", tags)
	}
	// Without the policy no node can fetch its bootstrap action, and the cluster ends.
	cluster.SetAttributeRaw("depends_on", hclwrite.TokensForTuple([]hclwrite.Tokens{
		hclwrite.TokensForIdentifier(policyResource + "." + platform.Name),
	}))
	file.Body().AppendNewline()
	policy := file.Body().AppendNewBlock("resource", []string{policyResource, platform.Name}).Body()
	policy.SetAttributeValue("role", cty.StringVal(nodeRole))
	policy.SetAttributeValue("policy_arn", cty.StringVal(s.NodePolicyARN))

	var out strings.Builder
	comment(&out, append(advice(), "Other groups stay in the same text, separated by commas without blanks.")...)
	out.Write(hclwrite.Format(file.Bytes()))
	return out.String(), nil
}

// value converts what JSON can express to a value of HCL.
func value(of any) (cty.Value, error) {
	text, err := toJSON(of, "")
	if err != nil {
		return cty.NilVal, err
	}
	implied, err := ctyjson.ImpliedType([]byte(text))
	if err != nil {
		return cty.NilVal, fmt.Errorf("find the type of %s: %w", text, err)
	}
	v, err := ctyjson.Unmarshal([]byte(text), implied)
	if err != nil {
		return cty.NilVal, fmt.Errorf("convert %s: %w", text, err)
	}
	return v, nil
}

// stackConfiguration is a Configuration of AWS::EMR::Cluster, whose properties have
// another name than in EMR's API.
type stackConfiguration struct {
	Classification string               `yaml:"Classification"`
	Properties     map[string]string    `yaml:"ConfigurationProperties,omitempty"`
	Configurations []stackConfiguration `yaml:"Configurations,omitempty"`
}

func stackConfigurations(list []observe.Classification) []stackConfiguration {
	var out []stackConfiguration
	for _, c := range list {
		out = append(out, stackConfiguration{c.Classification, c.Properties, stackConfigurations(c.Configurations)})
	}
	return out
}

// cloudFormation writes the properties of AWS::EMR::Cluster and of its nodes' role.
func cloudFormation(s observe.Settings) (string, error) {
	type resource struct {
		Type       string `yaml:"Type"`
		Properties any    `yaml:"Properties"`
	}
	r := requestOf(s)
	cluster := struct {
		Instances        instances            `yaml:"Instances"`
		BootstrapActions []bootstrapAction    `yaml:"BootstrapActions"`
		Configurations   []stackConfiguration `yaml:"Configurations"`
		Tags             []tag                `yaml:"Tags,omitempty"`
	}{r.Instances, r.BootstrapActions, stackConfigurations(r.Configurations), r.Tags}
	role := struct {
		Policies []string `yaml:"ManagedPolicyArns"`
	}{[]string{s.NodePolicyARN}}
	var out strings.Builder
	comment(&out, advice()...)
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err := encoder.Encode(struct {
		Resources struct {
			Cluster  resource `yaml:"Cluster"`
			NodeRole resource `yaml:"NodeRole"`
		} `yaml:"Resources"`
	}{struct {
		Cluster  resource `yaml:"Cluster"`
		NodeRole resource `yaml:"NodeRole"`
	}{resource{"AWS::EMR::Cluster", cluster}, resource{"AWS::IAM::Role", role}}})
	if err != nil {
		return "", fmt.Errorf("render YAML: %w", err)
	}
	return out.String(), nil
}
