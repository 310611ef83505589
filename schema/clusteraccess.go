package schema

import "github.com/emr-observatory/emr-observatory/schema/violation"

func clusterAccessRules() map[string]Rule {
	// components/emr measures it: it names each of these up to three times.
	const limit = ", as many as fit into the nodes' policy"
	return map[string]Rule{
		"s3Prefix": s3Prefix(limit),
		"kmsKey": pattern(`^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/(mrk-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`,
			"the ARN of a KMS key"+limit).with("", "name the key itself: an alias may point to another one tomorrow"),
		"glueDatabase": pattern(`^[a-z0-9_-]{1,255}$`, "the name of a Glue database, in lower case as Glue stores it"+limit),
		"secretArn": pattern(`^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[A-Za-z0-9/_+=.@-]+-[A-Za-z0-9]{6}$`,
			"the whole ARN of a secret in Secrets Manager, which ends with a hyphen and six characters of its own"+limit).
			with("", "write what `aws secretsmanager describe-secret --secret-id <name> --query ARN` prints"),
	}
}

// s3Prefix is the rule of a prefix in S3. also is what else is required of it.
func s3Prefix(also string) Rule {
	return pattern(`^s3://`+bucketPattern+`/([^*?"'$[:cntrl:]]+/)?$`, "an s3:// URI that ends with a slash, "+bucketText+also).ofBucket().
		with("", "write s3://bucket/prefix/, or s3://bucket/ for all of it")
}

// Access is what jobs of a cluster may use beyond the platform's data bucket.
type Access struct {
	S3Read        []string `json:"s3Read" rule:"s3Prefix"`
	S3Write       []string `json:"s3Write" rule:"s3Prefix"`
	KMSKeys       []string `json:"kmsKeys" rule:"kmsKey"`
	GlueDatabases []string `json:"glueDatabases" rule:"glueDatabase"`
	Secrets       []string `json:"secrets" rule:"secretArn"`
}

// Help describes the keys, for documents.
func (Access) Help() map[string]string {
	return map[string]string{
		"s3Read":        "Prefixes in S3 that jobs may read.",
		"s3Write":       "Prefixes in S3 that jobs may read, write and delete.",
		"kmsKeys":       "Keys with which those objects are encrypted. Their policies must allow it too.",
		"glueDatabases": "Databases of the Glue Data Catalog whose tables jobs may read and change.",
		"secrets":       "Secrets that jobs may read.",
	}
}

// SetDefaults sets no access.
func (a *Access) SetDefaults() {
	*a = Access{S3Read: []string{}, S3Write: []string{}, KMSKeys: []string{}, GlueDatabases: []string{}, Secrets: []string{}}
}

// check adds the section's violations to l.
func (a Access) check(l *violation.List, path string) {
	checkFields(l, path, a)
	checkPolicyPrefixes(l, path+".s3Read", a.S3Read)
	checkPolicyPrefixes(l, path+".s3Write", a.S3Write)
}
