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
		out = append(out, readObjects(a, "ReadCertificates", []string{c.Encryption.Certificates}))
	}
	if r := c.RuntimeRoles; r.Enabled() {
		actions := []string{iampolicy.AssumeRole, "sts:TagSession"}
		if r.PropagateSourceIdentity {
			actions = append(actions, "sts:SetSourceIdentity")
		}
		out = append(out, iampolicy.Statement{Sid: "AssumeRuntimeRoles", Effect: iampolicy.Allow, Action: actions, Resource: r.ARNs})
	}
	return out
}

// programStatements let nodes fetch what the cluster runs from where its configuration
// says.
func programStatements(a iampolicy.Account, c schema.Cluster, scheduled []schema.Step) []iampolicy.Statement {
	programs := c.Programs(scheduled...)
	if len(programs) == 0 {
		return nil
	}
	return []iampolicy.Statement{readObjects(a, "ReadPrograms", programs)}
}

// readObjects allows to read some objects: s3:// URIs.
func readObjects(a iampolicy.Account, sid string, uris []string) iampolicy.Statement {
	var resources []string
	for _, uri := range uris {
		resources = append(resources, "arn:"+a.Partition+":s3:::"+strings.TrimPrefix(uri, "s3://"))
	}
	return iampolicy.Statement{Sid: sid, Effect: iampolicy.Allow, Action: []string{"s3:GetObject"}, Resource: resources}
}

// catalogStatements let jobs connect to the Glue Data Catalog: AWS's client looks for the
// database default when it connects, creates it where the account has none, and fails
// where it may not (awslabs/aws-glue-data-catalog-client-for-apache-hive-metastore,
// AWSCatalogMetastoreClient). Databases of jobs are part of access.
func catalogStatements(a iampolicy.Account, region string, c schema.Cluster) []iampolicy.Statement {
	if !c.GlueCatalog {
		return nil
	}
	return []iampolicy.Statement{{
		Sid: "ConnectToCatalog", Effect: iampolicy.Allow, Action: []string{"glue:GetDatabase", "glue:CreateDatabase"},
		Resource: catalogResources(a, region),
	}}
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

// catalogResources are the Glue Data Catalog and the database default, for which Spark
// asks whichever it uses.
func catalogResources(a iampolicy.Account, region string) []string {
	return []string{glueARN(a, region, "catalog"), glueARN(a, region, "database/default")}
}

func glueARN(a iampolicy.Account, region, resource string) string {
	return "arn:" + a.Partition + ":glue:" + region + ":" + a.ID + ":" + resource
}

// glueResources are the databases, all that is in them, and the catalog, which Glue
// asks for with each of them (Glue Developer Guide, "Specifying AWS Glue resource
// ARNs").
func glueResources(a iampolicy.Account, region string, databases []string) []string {
	if len(databases) == 0 {
		return nil
	}
	out := catalogResources(a, region)
	for _, d := range databases {
		for _, resource := range []string{"database/" + d, "table/" + d + "/*", "userDefinedFunction/" + d + "/*"} {
			out = append(out, glueARN(a, region, resource))
		}
	}
	return out
}
