package emr

import (
	"fmt"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/schema"
)

// accessStatements grant the jobs of a cluster what its configuration names.
func accessStatements(a iampolicy.Account, region string, access schema.Access) []iampolicy.Statement {
	out := listStatements(a, slices.Concat(access.S3Read, access.S3Write))
	add := func(sid string, resources []string, actions ...string) {
		if len(resources) > 0 {
			out = append(out, iampolicy.Statement{Sid: sid, Effect: iampolicy.Allow, Action: actions, Resource: resources})
		}
	}
	add("ReadObjects", iampolicy.Objects(a, access.S3Read), "s3:GetObject")
	add("WriteObjects", iampolicy.Objects(a, access.S3Write), "s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload",
		"s3:ListMultipartUploadParts")
	add("UseKeys", access.KMSKeys, "kms:Decrypt", "kms:GenerateDataKey", "kms:DescribeKey")
	add("ReadSecrets", access.Secrets, "secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret")
	add("UseTables", glueResources(a, region, access.GlueDatabases), "glue:GetDatabase", "glue:GetDatabases", "glue:GetTable",
		"glue:GetTables",
		"glue:GetPartition", "glue:GetPartitions", "glue:BatchGetPartition", "glue:GetUserDefinedFunction", "glue:GetUserDefinedFunctions",
		"glue:CreateTable", "glue:UpdateTable", "glue:DeleteTable", "glue:CreatePartition", "glue:BatchCreatePartition", "glue:UpdatePartition",
		"glue:DeletePartition", "glue:BatchDeletePartition")
	return out
}

// securityStatements grant nodes what EMR's security features need of their role: the
// certificates, which each node fetches when it starts (EMR Management Guide, "Providing
// certificates for encrypting data in transit"), and the roles of steps, which EMR's agent
// on the nodes assumes ("Runtime roles for Amazon EMR steps").
func securityStatements(a iampolicy.Account, c schema.Cluster) []iampolicy.Statement {
	var out []iampolicy.Statement
	if c.Encryption.InTransit() {
		object := "arn:" + a.Partition + ":s3:::" + strings.TrimPrefix(c.Encryption.Certificates, "s3://")
		out = append(out, iampolicy.Statement{Sid: "ReadCertificates", Effect: iampolicy.Allow, Action: []string{"s3:GetObject"},
			Resource: []string{object}})
	}
	if r := c.RuntimeRoles; r.Enabled() {
		actions := []string{"sts:AssumeRole", "sts:TagSession"}
		if r.PropagateSourceIdentity {
			actions = append(actions, "sts:SetSourceIdentity")
		}
		out = append(out, iampolicy.Statement{Sid: "AssumeRuntimeRoles", Effect: iampolicy.Allow, Action: actions, Resource: r.ARNs})
	}
	return out
}

// listStatements let jobs list the prefixes of each bucket.
func listStatements(a iampolicy.Account, uris []string) []iampolicy.Statement {
	var out []iampolicy.Statement
	for i, list := range iampolicy.ListPrefixes(a, "ListBucket", uris) {
		out = append(out, list, iampolicy.Statement{
			Sid: fmt.Sprintf("KnowBucket%d", i), Effect: iampolicy.Allow, Resource: list.Resource,
			Action: []string{"s3:GetBucketLocation", "s3:ListBucketMultipartUploads"},
		})
	}
	return out
}

// glueResources are the databases, all that is in them, and the catalog, which Glue
// asks for with each of them (Glue Developer Guide, "Specifying AWS Glue resource
// ARNs"). Spark asks for the database default whichever it uses.
func glueResources(a iampolicy.Account, region string, databases []string) []string {
	if len(databases) == 0 {
		return nil
	}
	arn := func(resource string) string {
		return "arn:" + a.Partition + ":glue:" + region + ":" + a.ID + ":" + resource
	}
	out := []string{arn("catalog"), arn("database/default")}
	for _, d := range databases {
		out = append(out, arn("database/"+d), arn("table/"+d+"/*"), arn("userDefinedFunction/"+d+"/*"))
	}
	return out
}
