package lake

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/athena"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/glue"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/child"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// TypeToken is the component's type.
const TypeToken = platform.Name + ":lake:Lake"

// Args are what the tables need. Validate checks them.
type Args struct {
	Region  string // required, us-east-1
	Stack   string // required; database and workgroup have its name
	ScanGiB int    // required: what a query may scan

	Bucket, BucketARN, KMSKeyARN pulumi.StringInput // required, of the storage
}

// Validate reports every violation at once.
func (a *Args) Validate() error {
	if a == nil {
		return errors.New("lake: arguments are nil; pass *lake.Args")
	}
	var l violation.List
	schema.CheckRegion(&l, "lake.region", a.Region)
	l.Require(a.Stack != "", "lake.stack", a.Stack, "must be given", "pass the stack's name")
	l.Require(a.ScanGiB > 0, "lake.scanGiB", a.ScanGiB, "must be 1 or more", "pass profiler.athenaScanGiB")
	return l.Err()
}

// Lake is the tables' entry in the catalog.
type Lake struct {
	pulumi.ResourceState

	Database   pulumi.StringOutput `pulumi:"database"`
	Workgroup  pulumi.StringOutput `pulumi:"workgroup"`
	ReadPolicy pulumi.StringOutput `pulumi:"readPolicy"` // JSON of an IAM policy
}

type builder struct {
	child.Builder
	args *Args
}

// New creates them. It registers nothing if args are invalid.
func New(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*Lake, error) {
	if err := args.Validate(); err != nil {
		return nil, err
	}
	l := &Lake{}
	children, err := child.Register(ctx, l, TypeToken, name, pulumi.Map{"scanGiB": pulumi.Int(args.ScanGiB)}, opts...)
	if err != nil {
		return nil, err
	}
	b := &builder{Builder: children, args: args}
	database, err := glue.NewCatalogDatabase(ctx, b.Name("history"), &glue.CatalogDatabaseArgs{
		Name: pulumi.String(DatabaseName(args.Stack)), Description: pulumi.String(tables.CatalogDoc), Tags: b.Tags("history"),
	}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create the database of the tables: %w", err)
	}
	for _, d := range tables.All() {
		if err := b.createTable(d, database); err != nil {
			return nil, err
		}
	}
	workgroup, err := b.createWorkgroup()
	if err != nil {
		return nil, err
	}
	l.Database, l.Workgroup, l.ReadPolicy = database.Name, workgroup.Name, b.readPolicy(database, workgroup)
	return l, b.RegisterOutputs()
}

var notInNames = regexp.MustCompile(`[^a-z0-9_]`)

// DatabaseName is the name of a stack's database: Athena takes lower-case letters, digits and _ without quotes
// (Athena User Guide, "Name databases, tables, and columns").
// The name of a stack with others has a hash, so that no two stacks have the same.
func DatabaseName(stack string) string {
	plain := notInNames.ReplaceAllString(strings.ToLower(stack), "_")
	if plain != stack {
		plain += fmt.Sprintf("_%x", sha256.Sum256([]byte(stack)))[:1+hashDigits]
	}
	return strings.ReplaceAll(platform.Project, "-", "_") + "_" + plain
}

const hashDigits = 6

// Classes of Hive that read Parquet files.
const (
	inputFormat  = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"
	outputFormat = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat"
	serDe        = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
)

// createTable declares a table of the compacted objects, which the profiler's hourly runs write. Its folders are
// projected, so that nothing is registered when a new day is written. The partition is a string, as in all of AWS'
// examples of projected dates.
func (b *builder) createTable(d tables.Definition, database *glue.CatalogDatabase) error {
	location := pulumi.Sprintf("s3://%s/%s%s/%s", b.args.Bucket, platform.PrefixHistory, tables.Compacted, d.Name)
	parameters := pulumi.StringMap{"EXTERNAL": pulumi.String("TRUE"), "classification": pulumi.String("parquet")}
	for _, p := range tables.Projection(locationMark) {
		parameters[p[0]] = pulumi.String(p[1])
		if rest, found := strings.CutPrefix(p[1], locationMark); found {
			parameters[p[0]] = pulumi.Sprintf("%s%s", location, rest)
		}
	}
	var columns glue.CatalogTableStorageDescriptorColumnArray
	for _, c := range d.Columns() {
		columns = append(columns, glue.CatalogTableStorageDescriptorColumnArgs{
			Name: pulumi.String(c.Name), Type: pulumi.String(c.CatalogType()), Comment: pulumi.String(c.Doc),
		})
	}
	_, err := glue.NewCatalogTable(b.Ctx, b.Name(string(d.Name)), &glue.CatalogTableArgs{
		DatabaseName: database.Name, Name: pulumi.String(d.Name), Description: pulumi.String(d.Doc),
		TableType: pulumi.String("EXTERNAL_TABLE"), Parameters: parameters,
		PartitionKeys: glue.CatalogTablePartitionKeyArray{glue.CatalogTablePartitionKeyArgs{
			Name: pulumi.String(tables.Partition), Type: pulumi.String("string"), Comment: pulumi.String(tables.PartitionDoc),
		}},
		StorageDescriptor: glue.CatalogTableStorageDescriptorArgs{
			Location: pulumi.Sprintf("%s/", location), InputFormat: pulumi.String(inputFormat), OutputFormat: pulumi.String(outputFormat),
			SerDeInfo: glue.CatalogTableStorageDescriptorSerDeInfoArgs{SerializationLibrary: pulumi.String(serDe)}, Columns: columns,
		},
	}, b.Options()...)
	if err != nil {
		return fmt.Errorf("declare the table %s: %w", d.Name, err)
	}
	return nil
}

// locationMark stands for a table's location until that is known.
const locationMark = "LOCATION"

// gib is a GiB in bytes.
const gib = 1 << 30

// createWorkgroup creates the workgroup. Its settings override those of clients: results are encrypted, and a query ends
// that scans more than the limit.
func (b *builder) createWorkgroup() (*athena.Workgroup, error) {
	workgroup, err := athena.NewWorkgroup(b.Ctx, b.Name("history"), &athena.WorkgroupArgs{
		Name: pulumi.String(platform.Project + "-" + b.args.Stack), Description: pulumi.String("Spark's history of the stack " + b.args.Stack),
		Configuration: athena.WorkgroupConfigurationArgs{
			BytesScannedCutoffPerQuery: pulumi.Int(b.args.ScanGiB * gib), EnforceWorkgroupConfiguration: pulumi.Bool(true),
			PublishCloudwatchMetricsEnabled: pulumi.Bool(false),
			ResultConfiguration: athena.WorkgroupConfigurationResultConfigurationArgs{
				OutputLocation: pulumi.Sprintf("s3://%s/%s", b.args.Bucket, platform.PrefixAthena),
				EncryptionConfiguration: athena.WorkgroupConfigurationResultConfigurationEncryptionConfigurationArgs{
					EncryptionOption: pulumi.String("SSE_KMS"), KmsKeyArn: b.args.KMSKeyARN,
				},
			},
		},
		// The records of queries, and queries that somebody saved in it, would keep it from being destroyed.
		ForceDestroy: pulumi.Bool(true), Tags: b.Tags("history"),
	}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create the workgroup: %w", err)
	}
	return workgroup, nil
}
