package emr

import (
	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/components/internal/session"
	"github.com/emr-observatory/emr-observatory/platform"
)

// serviceTrust lets EMR assume the service role, for clusters of this account and
// region only (EMR Management Guide, "Service role: confused deputy").
func serviceTrust(a iampolicy.Account, region string) iampolicy.Document {
	return iampolicy.Trust("EMROfThisAccount", "elasticmapreduce."+a.DNSSuffix, iampolicy.Condition{
		"StringEquals": {"aws:SourceAccount": {a.ID}},
		"ArnLike":      {"aws:SourceArn": {"arn:" + a.Partition + ":elasticmapreduce:" + region + ":" + a.ID + ":*"}},
	})
}

// servicePolicy grants what EMR's managed policy lacks: passing a role whose name
// is not EMR's default, and using the stack's key. EC2 uses the key on the role's
// behalf, hence ViaService, and only AWS services may receive grants (EBS User
// Guide, "Permissions for IAM users").
func servicePolicy(a iampolicy.Account, region, nodeRoleARN, keyARN string) iampolicy.Document {
	ec2 := "ec2." + a.DNSSuffix
	throughEC2 := map[string][]string{"kms:ViaService": {"ec2." + region + "." + a.DNSSuffix}}
	return iampolicy.New(
		iampolicy.Statement{
			Sid: "PassNodeRole", Effect: iampolicy.Allow, Action: []string{"iam:PassRole"}, Resource: []string{nodeRoleARN},
			Condition: iampolicy.Condition{"StringEquals": {"iam:PassedToService": {ec2}}},
		},
		iampolicy.Statement{
			Sid: "EncryptVolumes", Effect: iampolicy.Allow, Resource: []string{keyARN},
			Action: []string{"kms:Encrypt", "kms:Decrypt", "kms:ReEncryptFrom", "kms:ReEncryptTo", "kms:GenerateDataKey",
				"kms:GenerateDataKeyWithoutPlaintext"},
			Condition: iampolicy.Condition{"StringEquals": throughEC2},
		},
		iampolicy.Statement{
			Sid: "GrantVolumes", Effect: iampolicy.Allow, Action: []string{"kms:CreateGrant"}, Resource: []string{keyARN},
			Condition: iampolicy.Condition{"StringEquals": throughEC2, "Bool": {"kms:GrantIsForAWSResource": {"true"}}},
		},
		iampolicy.Statement{Sid: "LookAtKey", Effect: iampolicy.Allow, Action: []string{"kms:DescribeKey"}, Resource: []string{keyARN}},
	)
}

// nodePolicy grants a node the least that the platform needs. For jobs that need
// more, attach another policy to the role.
// instanceStores says whether nodes have disks besides EBS volumes.
func nodePolicy(a iampolicy.Account, region, bucketARN, keyARN string, instanceStores bool) iampolicy.Document {
	objectsUnder := func(p platform.Prefix) []string { return []string{bucketARN + "/" + string(p) + "*"} }
	libraries := "arn:" + a.Partition + ":s3:::" + region + ".elasticmapreduce"
	return iampolicy.New(append([]iampolicy.Statement{
		{
			Sid: "ListOwnPrefixes", Effect: iampolicy.Allow, Action: []string{"s3:ListBucket"}, Resource: []string{bucketARN},
			Condition: iampolicy.Condition{"StringLike": {"s3:prefix": listablePrefixes()}},
		},
		{
			Sid: "KnowBucket", Effect: iampolicy.Allow, Action: []string{"s3:GetBucketLocation", "s3:ListBucketMultipartUploads"},
			Resource: []string{bucketARN},
		},
		{Sid: "ReadArtifacts", Effect: iampolicy.Allow, Action: []string{"s3:GetObject"}, Resource: objectsUnder(platform.PrefixArtifacts)},
		{Sid: "WriteLogs", Effect: iampolicy.Allow, Action: []string{"s3:PutObject", "s3:AbortMultipartUpload"},
			Resource: objectsUnder(platform.PrefixEMRLogs)},
		{
			Sid: "WorkInLake", Effect: iampolicy.Allow, Resource: objectsUnder(platform.PrefixLake),
			Action: []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"},
		},
		// EMR's own bootstrap libraries, in a public bucket of another account.
		{Sid: "ReadEMRLibraries", Effect: iampolicy.Allow, Action: []string{"s3:GetObject"}, Resource: []string{libraries + "/*"}},
		// The key is used through S3 and, for local disks, directly: no ViaService.
		{Sid: "UseKey", Effect: iampolicy.Allow, Action: keyActions(instanceStores), Resource: []string{keyARN}},
	}, session.Statements(a, region)...)...)
}

// keyActions are what a node does with the key. EC2 encrypts EBS volumes with the
// service role's permissions, but a node encrypts its instance stores itself, with
// LUKS (EMR Management Guide, "Encryption options"). For that the key must be usable
// as "Using AWS KMS keys for encryption" says: also Encrypt and ReEncrypt*, spelt out.
func keyActions(instanceStores bool) []string {
	actions := []string{"kms:Decrypt", "kms:GenerateDataKey", "kms:DescribeKey"}
	if instanceStores {
		actions = append(actions, "kms:Encrypt", "kms:ReEncryptFrom", "kms:ReEncryptTo")
	}
	return actions
}

// listablePrefixes are the prefixes that a node may list, with and without the
// slash: file system clients first look up the directory itself.
func listablePrefixes() []string {
	var out []string
	for _, p := range []platform.Prefix{platform.PrefixArtifacts, platform.PrefixEMRLogs, platform.PrefixLake} {
		out = append(out, p.Name(), string(p)+"*")
	}
	return out
}
