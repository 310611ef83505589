package rules

import (
	"regexp"
	"strings"
)

const (
	iamDoc    = "IAM User Guide, IAM quotas"
	policyDoc = "IAM User Guide, Policy grammar"
	goodTrust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},` +
		`"Action":"sts:AssumeRole"}]}`
	goodAllow = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::b/*"}]}`
)

// iamRules cover IAM except policy documents.
func iamRules() []Rule {
	const name = `^[\w+=,.@-]+$`
	return []Rule{
		{Type: "aws:iam/role:Role", Path: "name", Rule: "must be 1 to 64 characters of a-z, A-Z, 0-9 and +=,.@_-", Source: iamDoc,
			Holds: both(maxLength(64), matches(name)), Pass: "emr-service", Fail: strings.Repeat("r", 65)},
		{Type: "aws:iam/role:Role", Path: "assumeRolePolicy",
			Rule:   "must be a trust policy: Version 2012-10-17, statements with Effect, Principal and sts actions, no Resource",
			Source: policyDoc, Holds: onString(isTrustPolicy), Pass: goodTrust, Fail: goodAllow},
		limits("aws:iam/role:Role", "maxSessionDuration", "IAM API, CreateRole", "seconds", 3600, 43200, 3600, 60),
		{Type: "aws:iam/role:Role", Path: "path", Rule: "must begin and end with a slash", Source: "IAM API, CreateRole",
			Holds: matches(`^/([!-~]+/)?$`), Pass: "/", Fail: "emr"},
		{Type: "aws:iam/policy:Policy", Path: "name", Rule: "must be 1 to 128 characters of a-z, A-Z, 0-9 and +=,.@_-", Source: iamDoc,
			Holds: both(maxLength(128), matches(name)), Pass: "pass-role", Fail: "pass role"},
		{Type: "aws:iam/instanceProfile:InstanceProfile", Path: "name", Rule: "must be 1 to 128 characters of a-z, A-Z, 0-9 and +=,.@_-",
			Source: iamDoc, Holds: both(maxLength(128), matches(name)), Pass: "emr-ec2", Fail: "emr/ec2"},
		{Type: "aws:iam/rolePolicyAttachment:RolePolicyAttachment", Path: "policyArn", Rule: "must be a policy ARN",
			Source: "IAM API, AttachRolePolicy", Holds: matches(`^arn:aws[a-z-]*:iam::(\d{12}|aws):policy/.+`),
			Pass: "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore", Fail: "AmazonSSMManagedInstanceCore"},
		{Type: "aws:iam/rolePolicyAttachment:RolePolicyAttachment", Path: "policyArn",
			Rule: "the EMR v1 managed policies can no longer be attached", Remedy: "use service-role/AmazonEMRServicePolicy_v2",
			Source: "EMR Management Guide, Managed policies",
			Holds:  onString(func(s string) bool { return !strings.HasSuffix(s, "/AmazonElasticMapReduceRole") }),
			Pass:   "arn:aws:iam::aws:policy/service-role/AmazonEMRServicePolicy_v2",
			Fail:   "arn:aws:iam::aws:policy/service-role/AmazonElasticMapReduceRole"},
	}
}

// iamTagRules cover the tags of roles and instance profiles, whose keys IAM compares without
// case.
func iamTagRules() []Rule {
	var out []Rule
	for _, typ := range []string{"aws:iam/role:Role", "aws:iam/instanceProfile:InstanceProfile"} {
		out = append(out, Rule{Type: typ, Path: "tags", Rule: "tag keys must differ in more than case", Remedy: "remove one of the two",
			Source: "IAM User Guide, Tags for IAM resources", Holds: onObject(differInMoreThanCase), Pass: object{"Owner": "a", "team": "b"},
			Fail: object{"Owner": "a", "owner": "b"}})
	}
	return out
}

func differInMoreThanCase(tags object) bool {
	seen := map[string]bool{}
	for k := range tags {
		if seen[strings.ToLower(k)] {
			return false
		}
		seen[strings.ToLower(k)] = true
	}
	return true
}

// kmsRules cover KMS keys except policy documents.
func kmsRules() []Rule {
	return []Rule{
		limits("aws:kms/key:Key", "deletionWindowInDays", "KMS API, ScheduleKeyDeletion", "days", 7, 30, 7, 1),
		enum("aws:kms/key:Key", "keyUsage", "KMS API, CreateKey", "ENCRYPT_DECRYPT", "ENCRYPT", "ENCRYPT_DECRYPT", "SIGN_VERIFY",
			"GENERATE_VERIFY_MAC", "KEY_AGREEMENT"),
		{Type: "aws:kms/alias:Alias", Path: "name", Rule: "must begin with alias/ (not alias/aws/) and use a-z, A-Z, 0-9, /, _ and -",
			Source: "KMS API, CreateAlias",
			Holds:  both(matches(`^alias/[a-zA-Z0-9/_-]{1,250}$`), onString(func(s string) bool { return !strings.HasPrefix(s, "alias/aws/") })),
			Pass:   "alias/observatory", Fail: "observatory"},
	}
}

// parameterRules cover parameters of SSM.
func parameterRules() []Rule {
	return []Rule{
		enum("aws:ssm/parameter:Parameter", "type", "SSM API, PutParameter", "SecureString", "Secret", "String", "StringList",
			"SecureString"),
		{Type: "aws:ssm/parameter:Parameter", Path: "name",
			Rule:   "must use a-z, A-Z, 0-9, _.- and slashes, begin with a slash where it has one, not with aws or ssm",
			Source: "SSM API, PutParameter", Holds: onString(isParameterName), Pass: "/observatory/server-ca.key", Fail: "observatory/ca"},
		{Type: "aws:ssm/parameter:Parameter", Path: "value", Rule: "has at most 4096 characters in the tier Standard",
			Source: "SSM API, PutParameter", Holds: maxLength(4096), Pass: "x", Fail: strings.Repeat("x", 4097)},
	}
}

// policyDocumentRules cover the policy documents of IAM, KMS and S3.
func policyDocumentRules() []Rule {
	var out []Rule
	for typ, limit := range map[string]int{"aws:iam/policy:Policy": 6144, "aws:iam/rolePolicy:RolePolicy": 10240} {
		out = append(out, Rule{
			Type: typ, Path: "policy",
			Rule: "must be an identity policy: Version 2012-10-17, statements with Effect, Action and Resource," +
				" no Principal, unique alphanumeric Sids, within the size limit, without characters beyond U+00FF",
			Source: policyDoc + "; IAM API, PutRolePolicy",
			Holds: onString(func(s string) bool {
				return sizeWithoutSpace(s) <= limit && isIdentityPolicy(s) && !strings.ContainsFunc(s, func(r rune) bool { return r > 0xFF })
			}),
			Pass: goodAllow, Fail: goodTrust,
		})
	}
	resourcePolicy := strings.Replace(goodAllow, `"Action"`, `"Principal":"*","Action"`, 1)
	for _, typ := range []string{"aws:s3/bucketPolicy:BucketPolicy", "aws:kms/key:Key"} {
		out = append(out, Rule{Type: typ, Path: "policy",
			Rule:   "must be a resource policy: statements with Effect, Principal, Action and Resource, unique alphanumeric Sids",
			Source: policyDoc, Holds: onString(isResourcePolicy), Pass: resourcePolicy, Fail: goodAllow})
	}
	return out
}

func isParameterName(s string) bool {
	lower := strings.ToLower(strings.TrimPrefix(s, "/"))
	reserved := strings.HasPrefix(lower, "aws") || strings.HasPrefix(lower, "ssm")
	return parameterNamePattern.MatchString(s) && len(s) <= 1011 && !reserved
}

var parameterNamePattern = regexp.MustCompile(`^(/[a-zA-Z0-9_.-]+)+$|^[a-zA-Z0-9_.-]+$`)

func sizeWithoutSpace(s string) int {
	n := 0
	for _, r := range s {
		if r != ' ' && r != '\n' && r != '\t' && r != '\r' {
			n++
		}
	}
	return n
}
