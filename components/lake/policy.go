package lake

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/athena"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/glue"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/platform"
)

// readPolicy is the policy that users who query the history need. It is attached to nobody here.
func (b *builder) readPolicy(database *glue.CatalogDatabase, workgroup *athena.Workgroup) pulumi.StringOutput {
	return iampolicy.Render(b.Ctx, b.Parent, func(a iampolicy.Account, v []string) iampolicy.Document {
		return allow(a, b.args.Region, granted{database: v[0], workgroupARN: v[1], bucketARN: v[2], keyARN: v[3]})
	}, database.Name, workgroup.Arn, b.args.BucketARN, b.args.KMSKeyARN)
}

// granted is what a reader queries.
type granted struct{ database, workgroupARN, bucketARN, keyARN string }

// allow grants queries of the tables in the workgroup, and nothing else in the bucket (Athena User Guide, "Access to
// Athena and data": a query's caller needs rights on workgroup, catalog, data and results).
func allow(a iampolicy.Account, region string, g granted) iampolicy.Document {
	catalog := "arn:" + a.Partition + ":glue:" + region + ":" + a.ID + ":"
	results := g.bucketARN + "/" + string(platform.PrefixAthena) + "*"
	viaS3 := iampolicy.Condition{"StringEquals": {"kms:ViaService": {a.Service("s3", region)}}}
	return iampolicy.New(
		iampolicy.Statement{Sid: "Ask", Effect: iampolicy.Allow, Resource: []string{g.workgroupARN}, Action: []string{
			"athena:GetWorkGroup", "athena:StartQueryExecution", "athena:StopQueryExecution", "athena:GetQueryExecution",
			"athena:GetQueryResults", "athena:GetQueryResultsStream", "athena:ListQueryExecutions", "athena:BatchGetQueryExecution",
		}},
		// Athena's console and drivers list these before a user chooses (Service Authorization Reference: they know no resource).
		iampolicy.Statement{Sid: "Choose", Effect: iampolicy.Allow, Action: []string{"athena:ListWorkGroups", "athena:ListDataCatalogs"},
			Resource: []string{"*"}},
		iampolicy.Statement{Sid: "Browse", Effect: iampolicy.Allow,
			Action: []string{"athena:GetDataCatalog", "athena:GetDatabase", "athena:ListDatabases", "athena:GetTableMetadata",
				"athena:ListTableMetadata"},
			Resource: []string{"arn:" + a.Partition + ":athena:" + region + ":" + a.ID + ":datacatalog/AwsDataCatalog"}},
		// Athena looks the default database up in each Region (Athena User Guide, "Configure access to databases and tables in the AWS
		// Glue Data Catalog").
		iampolicy.Statement{Sid: "FindTables", Effect: iampolicy.Allow,
			Action: []string{"glue:GetDatabase", "glue:GetDatabases", "glue:GetTable", "glue:GetTables", "glue:GetPartition", "glue:GetPartitions",
				"glue:BatchGetPartition"},
			Resource: []string{catalog + "catalog", catalog + "database/default", catalog + "database/" + g.database,
				catalog + "table/" + g.database + "/*"}},
		iampolicy.Statement{Sid: "ReadTables", Effect: iampolicy.Allow, Action: []string{"s3:GetObject"},
			Resource: []string{g.bucketARN + "/" + string(platform.PrefixHistory) + "*"}},
		iampolicy.Statement{Sid: "ListTables", Effect: iampolicy.Allow, Action: []string{"s3:ListBucket"}, Resource: []string{g.bucketARN},
			Condition: iampolicy.Condition{"StringLike": {"s3:prefix": {
				string(platform.PrefixHistory) + "*", string(platform.PrefixAthena) + "*"}}}},
		iampolicy.Statement{Sid: "FindBucket", Effect: iampolicy.Allow, Action: []string{"s3:GetBucketLocation", "s3:ListBucketMultipartUploads"},
			Resource: []string{g.bucketARN}},
		iampolicy.Statement{Sid: "KeepResults", Effect: iampolicy.Allow, Resource: []string{results}, Action: []string{
			"s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts",
		}},
		iampolicy.Statement{Sid: "UseKey", Effect: iampolicy.Allow, Action: []string{"kms:Decrypt", "kms:GenerateDataKey"},
			Resource: []string{g.keyARN}, Condition: viaS3},
	)
}
