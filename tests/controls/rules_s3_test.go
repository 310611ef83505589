package controls

const (
	typeBucket        = "aws:s3/bucketV2:BucketV2"
	typeBucketPolicy  = "aws:s3/bucketPolicy:BucketPolicy"
	typeEncryption    = "aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2"
	typeVersioning    = "aws:s3/bucketVersioningV2:BucketVersioningV2"
	typeLogging       = "aws:s3/bucketLoggingV2:BucketLoggingV2"
	typePublicBlock   = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
	typeLifecycle     = "aws:s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2"
	typeOwnership     = "aws:s3/bucketOwnershipControls:BucketOwnershipControls"
	typeNotification  = "aws:s3/bucketNotification:BucketNotification"
	typeReplication   = "aws:s3/bucketReplicationConfig:BucketReplicationConfig"
	defaultEncryption = "rules.0.applyServerSideEncryptionByDefault."
)

func bucketRules() []Rule {
	buckets := []string{typeBucket}
	return []Rule{
		{IDs: []string{"CKV_AWS_19", "AWS-0088"}, Requires: "A bucket is encrypted by default",
			Types: buckets, Check: forBucket(typeEncryption, encrypts)},
		{IDs: []string{"CKV_AWS_145", "AWS-0132", "S3.17"}, Requires: "… with the stack's own key",
			Types: buckets, Check: encryptsWithStackKey},
		{IDs: []string{"CKV_AWS_21", "AWS-0090", "S3.14"}, Requires: "A bucket is versioned",
			Types: buckets, Check: forBucket(typeVersioning, equals("versioningConfiguration.status", "Enabled"))},
		{IDs: []string{"CKV_AWS_18", "AWS-0089", "S3.9"}, Requires: "Access to a bucket is logged",
			Types: buckets, Check: forBucket(typeLogging, logsElsewhere)},
		{IDs: []string{"CKV_AWS_53", "AWS-0086"}, Requires: "Public ACLs are refused",
			Types: buckets, Check: forBucket(typePublicBlock, equals("blockPublicAcls", true))},
		{IDs: []string{"CKV_AWS_54", "AWS-0087"}, Requires: "Public policies are refused",
			Types: buckets, Check: forBucket(typePublicBlock, equals("blockPublicPolicy", true))},
		{IDs: []string{"CKV_AWS_55", "AWS-0091", "S3.2", "S3.3"}, Requires: "Public ACLs are ignored",
			Types: buckets, Check: forBucket(typePublicBlock, equals("ignorePublicAcls", true))},
		{IDs: []string{"CKV_AWS_56", "AWS-0093"}, Requires: "Public buckets are restricted",
			Types: buckets, Check: forBucket(typePublicBlock, equals("restrictPublicBuckets", true))},
		{IDs: []string{"CKV2_AWS_6", "AWS-0094", "S3.8"}, Requires: "A bucket has a public access block",
			Types: buckets, Check: forBucket(typePublicBlock, exists)},
		{IDs: []string{"CKV2_AWS_61", "S3.13"}, Requires: "A bucket has lifecycle rules",
			Types: buckets, Check: forBucket(typeLifecycle, anyRule("id"))},
		{IDs: []string{"CKV_AWS_300"}, Requires: "Incomplete uploads are aborted in the whole bucket",
			Types: buckets, Check: forBucket(typeLifecycle, anyRule("abortIncompleteMultipartUpload.daysAfterInitiation"))},
		{IDs: []string{"CKV2_AWS_65", "S3.12"}, Requires: "ACLs are disabled",
			Types: buckets, Check: forBucket(typeOwnership, equals("rule.objectOwnership", "BucketOwnerEnforced"))},
		{IDs: []string{"CKV2_AWS_62", "S3.11"}, Requires: "A bucket has event notifications",
			Types: buckets, Check: forBucket(typeNotification, exists)},
		{IDs: []string{"CKV_AWS_144", "S3.7"}, Requires: "A bucket is replicated to another region",
			Types: buckets, Check: forBucket(typeReplication, exists)},
	}
}

func bucketPolicyRules() []Rule {
	policies := []string{typeBucketPolicy}
	return []Rule{
		{IDs: []string{"CKV_AWS_379", "S3.5"}, Requires: "A bucket refuses requests without TLS",
			Types: []string{typeBucket}, Check: forBucket(typeBucketPolicy, deniesRequestsWithoutTLS)},
		{IDs: []string{"CKV_AWS_70", "S3.6"}, Requires: "A bucket's policy allows nothing to everyone or to another account",
			Types: policies, Check: allowsServicesOnly},
		{IDs: []string{"CKV_AWS_93"}, Requires: "A bucket's policy locks nobody out", Types: policies, Check: locksNobodyOut},
	}
}

// forBucket requires resources of a type for the same bucket, all of which must pass
// the check.
func forBucket(token string, check Check) Check {
	return func(bucket Resource, all Resources) Judgement {
		found := all.With(token, "bucket", bucket.Outputs["bucket"])
		if len(found) == 0 {
			return unmet("has no %s", kind(token))
		}
		for _, r := range found {
			if j := check(r, all); j.Violation != "" {
				return unmet("%s %s: %s", r.Kind(), r.Name, j.Violation)
			}
		}
		return met(found...)
	}
}

func exists(Resource, Resources) Judgement { return met() }

func encrypts(r Resource, _ Resources) Judgement {
	switch a := r.Text(defaultEncryption + "sseAlgorithm"); a {
	case "AES256", "aws:kms", "aws:kms:dsse":
		return met()
	default:
		return unmet("algorithm %q", a)
	}
}

func encryptsWithStackKey(bucket Resource, all Resources) Judgement {
	return forBucket(typeEncryption, func(r Resource, _ Resources) Judgement {
		if r.Text(defaultEncryption+"sseAlgorithm") != "aws:kms" {
			return unmet("algorithm is %q, not aws:kms", r.Text(defaultEncryption+"sseAlgorithm"))
		}
		if _, own := all.output(typeKey, "arn", r.At(defaultEncryption+"kmsMasterKeyId")); !own {
			return unmet("key %v is not the stack's", r.At(defaultEncryption+"kmsMasterKeyId"))
		}
		return met()
	})(bucket, all)
}

func logsElsewhere(r Resource, _ Resources) Judgement {
	if target := r.Text("targetBucket"); target == "" || target == r.Text("bucket") {
		return unmet("logs go to %q", target)
	}
	return met()
}

// anyRule requires an enabled lifecycle rule for the whole bucket that sets path.
func anyRule(path string) Check {
	return func(r Resource, _ Resources) Judgement {
		for _, rule := range r.List("rules") {
			if valueAt(rule, "status") == "Enabled" && valueAt(rule, "filter.prefix") == "" && valueAt(rule, path) != nil {
				return met()
			}
		}
		return unmet("no enabled rule for the whole bucket sets %s", path)
	}
}
