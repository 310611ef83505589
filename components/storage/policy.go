package storage

import "github.com/emr-observatory/emr-observatory/components/internal/iampolicy"

// accessLogPrefix is where S3 writes its access logs in the log bucket.
const accessLogPrefix = "s3-access/"

// keyPolicy leaves access to the key to the account's IAM policies, as AWS's
// default key policy does (KMS Developer Guide, "Default key policy"). In a key
// policy "*" means the key itself.
func keyPolicy(a iampolicy.Account) iampolicy.Document {
	return iampolicy.New(iampolicy.Statement{
		Sid: "AccountDecides", Effect: iampolicy.Allow, Principal: iampolicy.Root(a.Partition, a.ID),
		Action: []string{"kms:*"}, Resource: []string{"*"},
	})
}

// tlsOnly denies every request without TLS.
func tlsOnly(bucketARN string) iampolicy.Statement {
	return iampolicy.Statement{
		Sid: "TLSOnly", Effect: iampolicy.Deny, Principal: iampolicy.Everyone(),
		Action: []string{"s3:*"}, Resource: []string{bucketARN, bucketARN + "/*"},
		Condition: iampolicy.Condition{"Bool": {"aws:SecureTransport": {"false"}}},
	}
}

// dataPolicy denies requests without TLS, and uploads with other encryption than
// the stack's key. An upload without encryption headers gets the bucket's default
// and must be allowed; hence Null, since a negated condition also matches an
// absent header. One that asks for KMS and names no key would get AWS's own key
// aws/s3, not the default (S3 API, PutObject).
func dataPolicy(bucketARN, keyARN string) iampolicy.Document {
	const algorithm, key = "s3:x-amz-server-side-encryption", "s3:x-amz-server-side-encryption-aws-kms-key-id"
	denyOtherThan := func(sid, header, want string) iampolicy.Statement {
		return iampolicy.Statement{
			Sid: sid, Effect: iampolicy.Deny, Principal: iampolicy.Everyone(),
			Action: []string{"s3:PutObject"}, Resource: []string{bucketARN + "/*"},
			Condition: iampolicy.Condition{"Null": {header: {"false"}}, "StringNotEquals": {header: {want}}},
		}
	}
	return iampolicy.New(tlsOnly(bucketARN),
		denyOtherThan("NoOtherEncryption", algorithm, "aws:kms"), denyOtherThan("NoOtherKey", key, keyARN),
		iampolicy.Statement{
			Sid: "NoUnnamedKey", Effect: iampolicy.Deny, Principal: iampolicy.Everyone(),
			Action: []string{"s3:PutObject"}, Resource: []string{bucketARN + "/*"},
			Condition: iampolicy.Condition{"Null": {algorithm: {"false"}, key: {"true"}}},
		})
}

// logPolicy lets AWS deliver to the log bucket the access logs of the data bucket and the
// flow logs of the account's VPCs in the region. CreateFlowLogs looks for the flow log
// statements. If they are missing, it either adds them or replaces the whole policy with
// them (VPC User Guide, "Amazon S3 bucket permissions for flow logs"; CloudWatch Logs User
// Guide, "Logs sent to Amazon S3"). The statements are therefore AWS's own to the letter,
// Sids included; AWSLogDeliveryAclCheck includes s3:ListBucket, as the second page requires.
func logPolicy(a iampolicy.Account, region, bucketARN, dataARN string) iampolicy.Document {
	const owner = "aws:SourceAccount"
	delivery := iampolicy.Service("delivery.logs.amazonaws.com")
	source := map[string][]string{"aws:SourceArn": {"arn:" + a.Partition + ":logs:" + region + ":" + a.ID + ":*"}}
	return iampolicy.New(
		tlsOnly(bucketARN),
		iampolicy.Statement{
			Sid: "AccessLogs", Effect: iampolicy.Allow, Principal: iampolicy.Service("logging.s3.amazonaws.com"),
			Action: []string{"s3:PutObject"}, Resource: []string{bucketARN + "/" + accessLogPrefix + "*"},
			Condition: iampolicy.Condition{"StringEquals": {owner: {a.ID}}, "ArnLike": {"aws:SourceArn": {dataARN}}},
		},
		iampolicy.Statement{
			Sid: "AWSLogDeliveryWrite", Effect: iampolicy.Allow, Principal: delivery,
			Action: []string{"s3:PutObject"}, Resource: []string{bucketARN + "/AWSLogs/" + a.ID + "/*"},
			Condition: iampolicy.Condition{
				"StringEquals": {owner: {a.ID}, "s3:x-amz-acl": {"bucket-owner-full-control"}}, "ArnLike": source,
			},
		},
		iampolicy.Statement{
			Sid: "AWSLogDeliveryAclCheck", Effect: iampolicy.Allow, Principal: delivery,
			Action: []string{"s3:GetBucketAcl", "s3:ListBucket"}, Resource: []string{bucketARN},
			Condition: iampolicy.Condition{"StringEquals": {owner: {a.ID}}, "ArnLike": source},
		},
	)
}
