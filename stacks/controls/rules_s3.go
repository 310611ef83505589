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
		{IDs: []string{"CKV_AWS_19", "AWS-0088"}, Wants: "A bucket is encrypted by default", Types: buckets, Check: beside(typeEncryption, encrypts)},
		{IDs: []string{"CKV_AWS_145", "AWS-0132", "S3.17"}, Wants: "… with the stack's own key", Types: buckets, Check: ownKey},
		{IDs: []string{"CKV_AWS_21", "AWS-0090", "S3.14"}, Wants: "A bucket keeps versions", Types: buckets, Check: beside(typeVersioning, is("versioningConfiguration.status", "Enabled"))},
		{IDs: []string{"CKV_AWS_18", "AWS-0089", "S3.9"}, Wants: "Access to a bucket is logged", Types: buckets, Check: beside(typeLogging, logsElsewhere)},
		{IDs: []string{"CKV_AWS_53", "AWS-0086"}, Wants: "Public ACLs are refused", Types: buckets, Check: beside(typePublicBlock, is("blockPublicAcls", true))},
		{IDs: []string{"CKV_AWS_54", "AWS-0087"}, Wants: "Public policies are refused", Types: buckets, Check: beside(typePublicBlock, is("blockPublicPolicy", true))},
		{IDs: []string{"CKV_AWS_55", "AWS-0091", "S3.2", "S3.3"}, Wants: "Public ACLs are ignored", Types: buckets, Check: beside(typePublicBlock, is("ignorePublicAcls", true))},
		{IDs: []string{"CKV_AWS_56", "AWS-0093"}, Wants: "Public buckets are restricted", Types: buckets, Check: beside(typePublicBlock, is("restrictPublicBuckets", true))},
		{IDs: []string{"CKV2_AWS_6", "AWS-0094", "S3.8"}, Wants: "A bucket has a public access block", Types: buckets, Check: beside(typePublicBlock, exists)},
		{IDs: []string{"CKV2_AWS_61", "S3.13"}, Wants: "A bucket has a lifecycle", Types: buckets, Check: beside(typeLifecycle, someRule("id"))},
		{IDs: []string{"CKV_AWS_300"}, Wants: "Unfinished uploads are removed in the whole bucket", Types: buckets, Check: beside(typeLifecycle, someRule("abortIncompleteMultipartUpload.daysAfterInitiation"))},
		{IDs: []string{"CKV2_AWS_65", "S3.12"}, Wants: "ACLs are disabled", Types: buckets, Check: beside(typeOwnership, is("rule.objectOwnership", "BucketOwnerEnforced"))},
		{IDs: []string{"CKV2_AWS_62", "S3.11"}, Wants: "A bucket notifies of events", Types: buckets, Check: beside(typeNotification, exists)},
		{IDs: []string{"CKV_AWS_144", "S3.7"}, Wants: "A bucket is replicated to another region", Types: buckets, Check: beside(typeReplication, exists)},
	}
}

func bucketPolicyRules() []Rule {
	policies := []string{typeBucketPolicy}
	return []Rule{
		{IDs: []string{"CKV_AWS_379", "S3.5"}, Wants: "A bucket refuses requests without TLS", Types: []string{typeBucket}, Check: beside(typeBucketPolicy, refusesPlaintext)},
		{IDs: []string{"CKV_AWS_70", "S3.6"}, Wants: "A bucket's policy allows nothing to everyone or to another account", Types: policies, Check: allowsNobodyElse},
		{IDs: []string{"CKV_AWS_93"}, Wants: "A bucket's policy locks nobody out", Types: policies, Check: locksNobodyOut},
	}
}

// beside wants a resource of the type for the same bucket, and that it passes.
func beside(token string, check Check) Check {
	return func(bucket Resource, all Resources) Judgement {
		side := all.With(token, "bucket", bucket.Outputs["bucket"])
		if len(side) == 0 {
			return unmet("has no %s", kind(token))
		}
		for _, s := range side {
			if j := check(s, all); j.Fault != "" {
				return unmet("%s %s: %s", s.Kind(), s.Name, j.Fault)
			}
		}
		return met(side...)
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

func ownKey(bucket Resource, all Resources) Judgement {
	return beside(typeEncryption, func(r Resource, _ Resources) Judgement {
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

// someRule wants an enabled rule for the whole bucket that sets path.
func someRule(path string) Check {
	return func(r Resource, _ Resources) Judgement {
		for _, rule := range r.List("rules") {
			if at(rule, "status") == "Enabled" && at(rule, "filter.prefix") == "" && at(rule, path) != nil {
				return met()
			}
		}
		return unmet("no enabled rule for the whole bucket sets %s", path)
	}
}
