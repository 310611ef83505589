package rules

import (
	"net/netip"
	"regexp"
	"strings"
)

const lifecycleDoc = "S3 API, PutBucketLifecycleConfiguration"

// bucketRules cover buckets and their settings except lifecycle.
func bucketRules() []Rule {
	const encryption = "aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2"
	return []Rule{
		{Type: "aws:s3/bucketV2:BucketV2", Path: "bucket",
			Rule: "must be 3 to 63 characters of a-z, 0-9, . and -, begin and end with a letter or digit, without ..," +
				" not an IP address, not beginning with xn-- or sthree- nor ending in -s3alias or --ol-s3",
			Source: "S3 User Guide, Bucket naming rules", Holds: onString(isBucketName), Pass: "observatory-data-0a1b2c3",
			Fail: "Observatory_Data"},
		enum("aws:s3/bucketVersioningV2:BucketVersioningV2", "versioningConfiguration.status", "S3 API, PutBucketVersioning", "Enabled",
			"enabled", "Enabled", "Suspended", "Disabled"),
		enum(encryption, "rules[*].applyServerSideEncryptionByDefault.sseAlgorithm", "S3 API, ServerSideEncryptionByDefault", "aws:kms",
			"KMS", "AES256", "aws:kms", "aws:kms:dsse"),
		enum("aws:s3/bucketOwnershipControls:BucketOwnershipControls", "rule.objectOwnership", "S3 API, PutBucketOwnershipControls",
			"BucketOwnerEnforced", "Enforced", "BucketOwnerEnforced", "BucketOwnerPreferred", "ObjectWriter"),
		{Type: "aws:s3/bucketV2:BucketV2",
			Rule:   "the inline blocks of BucketV2 are deprecated and conflict with the resources that replace them",
			Remedy: "use BucketVersioningV2, BucketServerSideEncryptionConfigurationV2, …", Source: "pulumi-aws v6 BucketV2",
			Holds: onObject(hasNoInlineBlocks), Pass: object{}, Fail: object{"acl": "private"}},
		{Type: encryption, Path: "rules[*].applyServerSideEncryptionByDefault", Rule: "AES256 takes no kmsMasterKeyId",
			Source: "S3 API, ServerSideEncryptionByDefault", Holds: onObject(keyFitsAlgorithm),
			Pass: object{"sseAlgorithm": "aws:kms", "kmsMasterKeyId": "k"}, Fail: object{"sseAlgorithm": "AES256", "kmsMasterKeyId": "k"}},
	}
}

// lifecycleRules cover lifecycle configurations.
func lifecycleRules() []Rule {
	const lifecycle = "aws:s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2"
	return []Rule{
		{Type: lifecycle, Path: "rules", Rule: "at most 1000 rules", Source: lifecycleDoc, Holds: maxItems(1000), Pass: []any{},
			Fail: make([]any, 1001)},
		{Type: lifecycle, Path: "rules", Rule: "rule ids must be unique", Source: lifecycleDoc, Holds: unique("id"),
			Pass: []any{object{"id": "a"}, object{"id": "b"}}, Fail: []any{object{"id": "a"}, object{"id": "a"}}},
		{Type: lifecycle, Path: "rules[*].id", Rule: "must be at most 255 characters", Source: lifecycleDoc, Holds: maxLength(255),
			Pass: "logs", Fail: strings.Repeat("x", 256)},
		enum(lifecycle, "rules[*].status", lifecycleDoc, "Enabled", "enabled", "Enabled", "Disabled"),
		{Type: lifecycle, Path: "rules[*]",
			Rule:   "must have at least one action (expiration, noncurrentVersionExpiration, abortIncompleteMultipartUpload, transitions)",
			Source: lifecycleDoc, Holds: onObject(hasLifecycleAction), Pass: object{"expiration": object{"days": 1.0}},
			Fail: object{"id": "a"}},
		{Type: lifecycle, Path: "rules[*].expiration.days", Rule: "must be positive", Source: lifecycleDoc, Holds: between(1, 1e9),
			Pass: 1.0, Fail: -1.0},
		{Type: lifecycle, Path: "rules[*].noncurrentVersionExpiration.noncurrentDays", Rule: "must be positive", Source: lifecycleDoc,
			Holds: between(1, 1e9), Pass: 1.0, Fail: 0.0},
		{Type: lifecycle, Path: "rules[*].abortIncompleteMultipartUpload.daysAfterInitiation", Rule: "must be positive",
			Source: lifecycleDoc, Holds: between(1, 1e9), Pass: 1.0, Fail: 0.0},
		{Type: lifecycle, Path: "rules[*].expiration", Rule: "takes exactly one of days, date and expiredObjectDeleteMarker",
			Source: lifecycleDoc, Holds: onObject(hasOneExpiration), Pass: object{"days": 30.0},
			Fail: object{"days": 30.0, "date": "2030-01-01T00:00:00Z"}},
	}
}

// objectRules cover objects.
func objectRules() []Rule {
	return []Rule{
		{Type: "aws:s3/bucketObjectv2:BucketObjectv2", Path: "key", Rule: "must be 1 to 1024 bytes", Source: "S3 User Guide, Object keys",
			Holds: onString(func(s string) bool { return s != "" && len(s) <= 1024 }), Pass: "artifacts/x", Fail: ""},
		{Type: "aws:s3/bucketObjectv2:BucketObjectv2", Rule: "takes at most one of source, content and contentBase64",
			Source: "pulumi-aws BucketObjectv2", Holds: onObject(hasOneBody), Pass: object{"content": "x"},
			Fail: object{"content": "x", "contentBase64": "eA=="}},
	}
}

func isBucketName(s string) bool {
	if !bucketNamePattern.MatchString(s) || strings.Contains(s, "..") {
		return false
	}
	if _, err := netip.ParseAddr(s); err == nil {
		return false
	}
	return !strings.HasPrefix(s, "xn--") && !strings.HasPrefix(s, "sthree-") &&
		!strings.HasSuffix(s, "-s3alias") && !strings.HasSuffix(s, "--ol-s3")
}

var bucketNamePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

func hasNoInlineBlocks(o object) bool {
	return !isAnySet(o, "versionings", "serverSideEncryptionConfigurations", "lifecycleRules", "loggings", "policy", "acl")
}

func keyFitsAlgorithm(o object) bool {
	algorithm, _ := stringField(o, "sseAlgorithm")
	return algorithm != "AES256" || !isSet(o, "kmsMasterKeyId")
}

func hasLifecycleAction(o object) bool {
	return isAnySet(o, "expiration", "noncurrentVersionExpiration", "abortIncompleteMultipartUpload",
		"transitions", "noncurrentVersionTransitions")
}

// hasOneExpiration ignores zero values, which the SDK sends for unset fields.
func hasOneExpiration(o object) bool {
	n := 0
	for _, k := range []string{"days", "date", "expiredObjectDeleteMarker"} {
		if v, ok := o[k]; ok && v != 0.0 && v != false {
			n++
		}
	}
	return n == 1
}

func hasOneBody(o object) bool { return countSet(o, "source", "content", "contentBase64") <= 1 }
