package controlnode_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
)

// The tools' role reads the history and nothing else, and only the node's role may assume it.
func TestToolsReadTheHistoryOnly(t *testing.T) {
	args := validArgs()
	args.Profiler = schema.Defaults().Profiler
	rec := run(t, args)
	read := func(name string) []statement {
		var policy struct{ Statement []statement }
		text := plain(one(t, rec, "aws:iam/rolePolicy:RolePolicy", name).Inputs["policy"])
		require.NoError(t, json.Unmarshal([]byte(text), &policy))
		return policy.Statement
	}
	require.Equal(t, []statement{
		{Sid: "ReadHistory", Action: []string{"s3:GetObject"}, Resource: []string{bucketARN + "/lake/history/*"}},
		{
			Sid: "ListHistory", Action: []string{"s3:ListBucket"}, Resource: []string{bucketARN},
			Condition: map[string]map[string][]string{"StringLike": {"s3:prefix": {"lake/history", "lake/history/*"}}},
		},
		{
			Sid: "UseKey", Action: []string{"kms:Decrypt"}, Resource: []string{keyARN},
			Condition: map[string]map[string][]string{"StringEquals": {"kms:ViaService": {"s3.us-east-1.amazonaws.com"}}},
		},
	}, read("control-tools-access"))
	role := one(t, rec, "aws:iam/role:Role", "control-tools-role")
	node := one(t, rec, "aws:iam/role:Role", "control-role")
	require.Equal(t, []statement{{
		Sid: "AssumeToolsRole", Action: []string{"sts:AssumeRole"}, Resource: []string{plain(role.Outputs["arn"])},
	}}, read("control-assume-tools-role"))
	require.JSONEq(t, `{"Version":"2012-10-17","Statement":[{"Sid":"ControlNode","Effect":"Allow",
		"Principal":{"AWS":["arn:aws:iam::123456789012:root"]},"Action":["sts:AssumeRole"],
		"Condition":{"ArnEquals":{"aws:PrincipalArn":["`+plain(node.Outputs["arn"])+`"]}}}]}`, plain(role.Inputs["assumeRolePolicy"]))

	args.Profiler = schema.Profiler{}
	for _, r := range run(t, args).OfType("aws:iam/role:Role") {
		require.NotContains(t, r.Name, "tools")
	}
}
