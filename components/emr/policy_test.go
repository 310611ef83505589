package emr_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/schema"
)

// statements returns a policy's statements by Sid.
func statements(t *testing.T, v resource.PropertyValue) map[string]iampolicy.Statement {
	t.Helper()
	var d iampolicy.Document
	require.NoError(t, json.Unmarshal([]byte(v.StringValue()), &d))
	bySid := map[string]iampolicy.Statement{}
	for _, s := range d.Statement {
		require.NotContains(t, bySid, s.Sid)
		bySid[s.Sid] = s
	}
	require.NotEmpty(t, bySid)
	return bySid
}

func TestNodePolicyIsBoundToPrefixes(t *testing.T) {
	s := statements(t, one(t, run(t, validArgs()), policyType, "emr-node").Inputs["policy"])
	require.Len(t, s, 12)
	require.Equal(t, []string{"arn:aws:ec2:us-east-1:123456789012:instance/*"}, s["SessionRegistration"].Resource)
	require.Equal(t, []string{bucketARN + "/artifacts/*"}, s["ReadArtifacts"].Resource)
	require.Equal(t, []string{"s3:GetObject"}, s["ReadArtifacts"].Action)
	require.Equal(t, []string{bucketARN + "/emr-logs/main/*"}, s["WriteLogs"].Resource)
	require.NotContains(t, s["WriteLogs"].Action, "s3:GetObject")
	require.NotContains(t, s["WriteLogs"].Action, "s3:DeleteObject")
	require.Equal(t, []string{bucketARN + "/lake/*", bucketARN + "/lake_$folder$"}, s["WorkInLake"].Resource)
	require.Equal(t, []string{bucketARN + "/lake/history/*"}, s["HistoryIsClosed"].Resource)
	require.Equal(t, iampolicy.Deny, s["HistoryIsClosed"].Effect)
	for _, action := range s["WorkInLake"].Action {
		if action != "s3:ListMultipartUploadParts" {
			require.Contains(t, s["HistoryIsClosed"].Action, action)
		}
	}
	require.Equal(t, iampolicy.Deny, s["HistoryIsNotListed"].Effect)
	require.Equal(t, []string{"artifacts", "artifacts/*", "emr-logs/main", "emr-logs/main/*", "lake", "lake/*"},
		s["ListOwnPrefixes"].Condition["StringLike"]["s3:prefix"])
	require.Equal(t, []string{"arn:aws:s3:::us-east-1.elasticmapreduce/*"}, s["ReadEMRLibraries"].Resource)
	require.Equal(t, []string{keyARN}, s["UseKey"].Resource)
	whole, err := json.Marshal(s)
	require.NoError(t, err)
	require.NotContains(t, string(whole), "tempo", "only the control node accesses telemetry blocks")
	require.NotContains(t, string(whole), "pyroscope")
}

// With the key, jobs read the history and still do not write it.
func TestHistoryIsReadableIfAskedFor(t *testing.T) {
	args := validArgs()
	args.HistoryReadable = true
	s := statements(t, one(t, run(t, args), policyType, "emr-node").Inputs["policy"])
	require.NotContains(t, s, "HistoryIsClosed")
	require.NotContains(t, s, "HistoryIsNotListed")
	for _, writes := range s["WorkInLake"].Action {
		reads := writes == "s3:GetObject" || writes == "s3:ListMultipartUploadParts"
		require.NotEqual(t, reads, slices.Contains(s["HistoryIsReadOnly"].Action, writes), writes)
	}
}

// Without them a bootstrap action ends the cluster, and a step fails.
func TestNodesReadWhatTheClusterRuns(t *testing.T) {
	args := validArgs()
	require.NotContains(t, statements(t, one(t, run(t, args), policyType, "emr-node").Inputs["policy"]), "ReadPrograms")
	args.BootstrapActions = []schema.BootstrapAction{{Name: "jdbc-drivers", Path: "s3://acme-emr-bootstrap/drivers.sh"}}
	args.Steps = []schema.Step{{Name: "load", ActionOnFailure: "CONTINUE", Jar: "s3://acme-emr-jars/load-1.2.jar"}}
	s := statements(t, one(t, run(t, args), policyType, "emr-node").Inputs["policy"])["ReadPrograms"]
	require.Equal(t, []string{"s3:GetObject"}, s.Action)
	require.Equal(t, []string{"arn:aws:s3:::acme-emr-bootstrap/drivers.sh", "arn:aws:s3:::acme-emr-jars/load-1.2.jar"}, s.Resource)
}

// Only a node that encrypts its instance stores with LUKS is a full user of the key.
func TestNodesWithLUKSAreUsersOfTheKey(t *testing.T) {
	on := func(instanceType string) iampolicy.Statement {
		args := validArgs()
		args.Core.InstanceType = instanceType
		return statements(t, one(t, run(t, args), policyType, "emr-node").Inputs["policy"])["UseKey"]
	}
	for _, withoutLUKS := range []string{"r7g.2xlarge", "r7gd.2xlarge"} {
		use := on(withoutLUKS)
		require.Equal(t, []string{"kms:Decrypt", "kms:GenerateDataKey"}, use.Action, withoutLUKS)
		require.Equal(t, []string{"s3.us-east-1.amazonaws.com"}, use.Condition["StringEquals"]["kms:ViaService"], withoutLUKS)
	}
	use := on("d2.2xlarge")
	require.Equal(t, []string{"kms:Decrypt", "kms:GenerateDataKey", "kms:Encrypt", "kms:ReEncryptFrom", "kms:ReEncryptTo"}, use.Action)
	require.Empty(t, use.Condition)
}

func TestServicePolicyAddsOnlyWhatTheManagedOneLacks(t *testing.T) {
	s := statements(t, one(t, run(t, validArgs()), policyType, "emr-service").Inputs["policy"])
	require.Len(t, s, 4)
	require.Equal(t, []string{"arn:aws:iam::123456789012:role/emr-node-1a2b3c4"}, s["PassNodeRole"].Resource)
	require.Equal(t, []string{"ec2.amazonaws.com"}, s["PassNodeRole"].Condition["StringEquals"]["iam:PassedToService"])
	for _, sid := range []string{"EncryptVolumes", "GrantVolumes"} {
		require.Equal(t, []string{"ec2.us-east-1.amazonaws.com"}, s[sid].Condition["StringEquals"]["kms:ViaService"], sid)
	}
	require.Equal(t, []string{"true"}, s["GrantVolumes"].Condition["Bool"]["kms:GrantIsForAWSResource"])
}

func TestStatementsHaveNoWildcards(t *testing.T) {
	rec := run(t, validArgs())
	count := 0
	for _, p := range rec.OfType(policyType) {
		for sid, s := range statements(t, p.Inputs["policy"]) {
			count++
			require.Equal(t, strings.HasPrefix(sid, "HistoryIs"), s.Effect == iampolicy.Deny, sid)
			require.NotEmpty(t, s.Resource, sid)
			if sid == "SessionManager" { // its actions have no resource-level permissions
				require.Equal(t, []string{"us-east-1"}, s.Condition["StringEquals"]["aws:RequestedRegion"])
				continue
			}
			for _, r := range s.Resource {
				require.NotEqual(t, "*", r, sid)
			}
			for _, a := range s.Action {
				require.NotContains(t, a, "*", sid)
			}
		}
	}
	require.Equal(t, 16, count)
}

func TestTrustPolicies(t *testing.T) {
	rec := run(t, validArgs())
	service := statements(t, one(t, rec, roleType, "emr-service").Inputs["assumeRolePolicy"])["EMROfThisAccount"]
	require.Equal(t, []string{"elasticmapreduce.amazonaws.com"}, service.Principal.Service)
	require.Equal(t, []string{"123456789012"}, service.Condition["StringEquals"]["aws:SourceAccount"])
	require.Equal(t, []string{"arn:aws:elasticmapreduce:us-east-1:123456789012:*"}, service.Condition["ArnLike"]["aws:SourceArn"])
	node := statements(t, one(t, rec, roleType, "emr-node").Inputs["assumeRolePolicy"])["Instances"]
	require.Equal(t, []string{"ec2.amazonaws.com"}, node.Principal.Service)
	require.Equal(t, []string{"sts:AssumeRole"}, node.Action)
}

// A job runs with the node's role: with AmazonSSMManagedInstanceCore it could
// read every parameter of the account.
func TestOnlyServiceRoleHasAManagedPolicy(t *testing.T) {
	rec := run(t, validArgs())
	arns := map[string]string{}
	for _, a := range rec.OfType("aws:iam/rolePolicyAttachment:RolePolicyAttachment") {
		arns[a.Inputs["role"].StringValue()] = a.Inputs["policyArn"].StringValue()
	}
	require.Equal(t, map[string]string{
		"emr-service-1a2b3c4": "arn:aws:iam::aws:policy/service-role/AmazonEMRServicePolicy_v2",
	}, arns)
}

func TestOtherPartitions(t *testing.T) {
	rec, err := recorder.Run(program(validArgs()), recorderOptions("aws-cn", "amazonaws.com.cn")...)
	require.NoError(t, err)
	require.Equal(t, []string{"ec2.amazonaws.com.cn"}, statements(t, one(t, rec, roleType,
		"emr-node").Inputs["assumeRolePolicy"])["Instances"].Principal.Service)
	for _, a := range rec.OfType("aws:iam/rolePolicyAttachment:RolePolicyAttachment") {
		require.True(t, strings.HasPrefix(a.Inputs["policyArn"].StringValue(), "arn:aws-cn:iam::aws:policy/"), a.Name)
	}
	for _, r := range statements(t, one(t, rec, policyType, "emr-node").Inputs["policy"])["ReadEMRLibraries"].Resource {
		require.True(t, strings.HasPrefix(r, "arn:aws-cn:s3:::"), r)
	}
}
