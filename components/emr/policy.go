package emr

import (
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/components/internal/session"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
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
// is not EMR's default, and using the stack's key for EBS volumes. EMR asks that the
// role be a user of the key (EMR Management Guide, "Enabling EBS encryption by
// providing additional permissions for KMS keys"): these are a key user's actions
// (KMS Developer Guide, "Allows key users to use the KMS key"). Narrower than there,
// EC2 must make the call for the role (KMS Developer Guide, "kms:ViaService"), and
// only AWS services may receive grants: nothing but EBS needs the key of it (EBS User
// Guide, "Requirements for Amazon EBS encryption").
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
// more, attach another policy to the role. Of the logs, it may write those of its own
// cluster only.
func (a *Args) nodePolicy(account iampolicy.Account, bucketARN, keyARN string) iampolicy.Document {
	objectsUnder := func(p platform.Prefix) []string { return []string{bucketARN + "/" + string(p) + "*"} }
	logs := platform.ClusterLogs(a.Key)
	libraries := "arn:" + account.Partition + ":s3:::" + a.Region + ".elasticmapreduce"
	statements := []iampolicy.Statement{
		{
			Sid: "ListOwnPrefixes", Effect: iampolicy.Allow, Action: []string{"s3:ListBucket"}, Resource: []string{bucketARN},
			Condition: iampolicy.UnderPrefixes(platform.PrefixArtifacts, logs, platform.PrefixLake),
		},
		{
			Sid: "KnowBucket", Effect: iampolicy.Allow, Action: []string{"s3:GetBucketLocation", "s3:ListBucketMultipartUploads"},
			Resource: []string{bucketARN},
		},
		{Sid: "ReadArtifacts", Effect: iampolicy.Allow, Action: []string{"s3:GetObject"}, Resource: objectsUnder(platform.PrefixArtifacts)},
		{Sid: "WriteLogs", Effect: iampolicy.Allow, Action: []string{"s3:PutObject", "s3:AbortMultipartUpload"},
			Resource: objectsUnder(logs)},
		{
			// EMRFS, which s3:// is before emr-7.10, marks a folder that it makes with an object beside it.
			Sid: "WorkInLake", Effect: iampolicy.Allow,
			Resource: append(objectsUnder(platform.PrefixLake), bucketARN+"/"+strings.TrimSuffix(string(platform.PrefixLake), "/")+"_$folder$"),
			Action:   []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"},
		},
		// EMR's own bootstrap libraries, in a public bucket of another account.
		{Sid: "ReadEMRLibraries", Effect: iampolicy.Allow, Action: []string{"s3:GetObject"}, Resource: []string{libraries + "/*"}},
	}
	if a.KeepsNotebooks() {
		statements = append(statements,
			iampolicy.Statement{
				Sid: "KeepNotebooks", Effect: iampolicy.Allow, Action: []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject"},
				Resource: objectsUnder(platform.PrefixNotebooks),
			},
			iampolicy.Statement{
				Sid: "ListNotebooks", Effect: iampolicy.Allow, Action: []string{"s3:ListBucket"}, Resource: []string{bucketARN},
				Condition: iampolicy.UnderPrefixes(platform.PrefixNotebooks),
			})
	}
	statements = append(statements, historyStatements(objectsUnder(platform.PrefixHistory), bucketARN, a.HistoryReadable)...)
	statements = append(statements, a.keyStatements(account, keyARN)...)
	return iampolicy.New(append(statements, session.Statements(account, a.Region)...)...)
}

// historyStatements keep jobs from the profiler's tables, which are of all clusters; if they are
// readable, from writing them. A denial outweighs what access, or a policy attached to the role,
// allows. Names of objects, which have ids only, are listed with those of the lake around them.
func historyStatements(objects []string, bucketARN string, readable bool) []iampolicy.Statement {
	writing := []string{"s3:PutObject", "s3:DeleteObject", "s3:DeleteObjectVersion", "s3:AbortMultipartUpload"}
	if readable {
		return []iampolicy.Statement{{Sid: "HistoryIsReadOnly", Effect: iampolicy.Deny, Action: writing, Resource: objects}}
	}
	return []iampolicy.Statement{
		{
			Sid: "HistoryIsClosed", Effect: iampolicy.Deny, Action: append([]string{"s3:GetObject", "s3:GetObjectVersion"}, writing...),
			Resource: objects,
		},
		{
			Sid: "HistoryIsNotListed", Effect: iampolicy.Deny, Action: []string{"s3:ListBucket"}, Resource: []string{bucketARN},
			Condition: iampolicy.UnderPrefixes(platform.PrefixHistory),
		},
	}
}

// keyStatements let a node use the key: through S3 and Secrets Manager, and where nodes encrypt
// disks themselves directly, too. EC2 encrypts the other disks for EMR's service role.
func (a *Args) keyStatements(account iampolicy.Account, keyARN string) []iampolicy.Statement {
	luks := slices.ContainsFunc(a.Groups(), func(g schema.InstanceGroup) bool { return schema.EncryptsInstanceStore(g.InstanceType) })
	look := iampolicy.Statement{Sid: "LookAtKey", Effect: iampolicy.Allow, Action: []string{"kms:DescribeKey"}, Resource: []string{keyARN}}
	use := iampolicy.Statement{Sid: "UseKey", Effect: iampolicy.Allow, Action: keyActions(luks), Resource: []string{keyARN}}
	if !luks {
		services := []string{account.Service("s3", a.Region)}
		if len(a.Access.Secrets) > 0 {
			services = append(services, account.Service("secretsmanager", a.Region))
		}
		use.Condition = iampolicy.Condition{"StringEquals": {"kms:ViaService": services}}
	}
	return []iampolicy.Statement{use, look}
}

// keyActions are what a node does with the key. For LUKS it has KMS generate a data
// key when it launches and decrypt that when it reboots (KMS Developer Guide, "How
// Amazon EMR uses AWS KMS"); S3 needs the same. EC2 encrypts EBS volumes with the
// service role's permissions. A node that uses LUKS also has the rest of a key user's
// actions, which EMR asks for (EMR Management Guide, "Using AWS KMS keys for
// encryption").
func keyActions(luks bool) []string {
	actions := []string{"kms:Decrypt", "kms:GenerateDataKey"}
	if luks {
		actions = append(actions, "kms:Encrypt", "kms:ReEncryptFrom", "kms:ReEncryptTo")
	}
	return actions
}
