package controlnode_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	boot "github.com/emr-observatory/emr-observatory/assets/controlnode"
	"github.com/emr-observatory/emr-observatory/platform"
)

func TestNodePolicyHasNoWildcards(t *testing.T) {
	rec := run(t, validArgs())
	var policy struct {
		Statement []struct {
			Sid              string
			Action, Resource []string
			Condition        map[string]map[string][]string
		}
	}
	text := plain(one(t, rec, "aws:iam/rolePolicy:RolePolicy", "control-access").Inputs["policy"])
	require.NoError(t, json.Unmarshal([]byte(text), &policy))
	resources := map[string][]string{}
	for _, s := range policy.Statement {
		resources[s.Sid] = s.Resource
		if s.Sid == "ListSteps" {
			require.Equal(t, map[string]map[string][]string{"StringEquals": {
				"elasticmapreduce:ResourceTag/observatory:project": {platform.Project},
				"elasticmapreduce:ResourceTag/observatory:stack":   {"test"},
			}}, s.Condition, "of no other stack")
		}
		for _, a := range s.Action {
			require.NotContains(t, a, "*", s.Sid)
		}
		for _, r := range s.Resource {
			if r == "*" {
				require.Contains(t, []string{"ReadCloudWatch", "ListClusters", "SessionManager"}, s.Sid)
				require.Equal(t, []string{"us-east-1"}, s.Condition["StringEquals"]["aws:RequestedRegion"], s.Sid)
				require.NotContains(t, s.Action, "ssm:GetParameter")
			}
		}
	}
	require.Equal(t, []string{bucketARN + "/tempo/*", bucketARN + "/pyroscope/*"}, resources["TelemetryBlocks"])
	require.Equal(t, []string{bucketARN + "/artifacts/*"}, resources["Artifacts"])
	require.Equal(t, []string{bucketARN}, resources["ListOwnPrefixes"])
	require.Equal(t, []string{keyARN}, resources["UseKey"])
	require.Len(t, resources["OwnCertificates"], len(boot.CAFiles())/2)
	require.Equal(t, []string{"arn:aws:ec2:us-east-1:123456789012:instance/*"}, resources["SessionRegistration"])
	require.Equal(t, []string{"arn:aws:elasticmapreduce:us-east-1:123456789012:cluster/*"}, resources["ListSteps"])
	require.Equal(t, resources["ListSteps"], resources["DescribeClusters"])
	require.Len(t, resources, 12)
	require.Contains(t, text, `"s3:prefix":["tempo","tempo/*","pyroscope","pyroscope/*","artifacts","artifacts/*"]`)
	require.Empty(t, rec.OfType("aws:iam/rolePolicyAttachment:RolePolicyAttachment"))
	require.NotContains(t, text, "TraceHeaders")
}

// Pods have the instance's role, for good: what only the instance's first boot reads, the
// role may read only then.
func TestKeysOfAuthoritiesAreReadableAtTheFirstBootOnly(t *testing.T) {
	rec := run(t, validArgs())
	var keys []string
	for _, file := range boot.CAFiles() {
		if strings.HasSuffix(file, ".key") {
			name, _, _ := strings.Cut(file, ".")
			keys = append(keys, plain(one(t, rec, "aws:ssm/parameter:Parameter", "control-"+name+"-key-parameter").Outputs["arn"]))
		}
	}
	require.Len(t, keys, 3)
	quoted, err := json.Marshal(keys)
	require.NoError(t, err)
	window := one(t, rec, "aws:iam/rolePolicy:RolePolicy", "control-boot-access")
	require.JSONEq(t, `{"Version":"2012-10-17","Statement":[{"Sid":"OwnAuthorities","Effect":"Allow","Action":["ssm:GetParameter"],`+
		`"Resource":`+string(quoted)+`,"Condition":{"DateLessThan":{"aws:CurrentTime":["2026-12-01T19:30:00Z"]}}}]}`,
		plain(window.Inputs["policy"]))
	clock := one(t, rec, "tls:index/selfSignedCert:SelfSignedCert", "control-boot")
	ids := one(t, rec, "aws:ec2/instance:Instance", "control-instance").ID + " " +
		one(t, rec, "aws:ec2/volumeAttachment:VolumeAttachment", "control-attachment").ID
	require.Equal(t, ids, plain(clock.Inputs["subject"].ObjectValue()["commonName"]), "another instance has a window of its own")
	access := plain(one(t, rec, "aws:iam/rolePolicy:RolePolicy", "control-access").Inputs["policy"])
	for _, key := range keys {
		require.NotContains(t, access, `"`+key+`"`)
	}
}

// The name is in no user data: another parameter needs no other instance.
func TestNodeMayReadTheTraceHeaders(t *testing.T) {
	args := validArgs()
	args.TraceHeadersParameter = "/team/trace-headers"
	rec := run(t, args)
	require.Contains(t, plain(one(t, rec, "aws:iam/rolePolicy:RolePolicy", "control-access").Inputs["policy"]),
		`{"Sid":"TraceHeaders","Effect":"Allow","Action":["ssm:GetParameter"],`+
			`"Resource":["arn:aws:ssm:us-east-1:123456789012:parameter/team/trace-headers"]}`)
	for _, r := range rec.Resources {
		if r.Type != "aws:iam/rolePolicy:RolePolicy" {
			require.NotContains(t, fmt.Sprint(r.Inputs.Mappable()), "trace-headers", r.Name)
		}
	}
}
