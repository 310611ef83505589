package lake_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/lake"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

const (
	databaseType  = "aws:glue/catalogDatabase:CatalogDatabase"
	tableType     = "aws:glue/catalogTable:CatalogTable"
	workgroupType = "aws:athena/workgroup:Workgroup"
)

func validArgs() *lake.Args {
	return &lake.Args{
		Region: "us-east-1", Stack: "team-a.dev", ScanGiB: 10, Bucket: pulumi.String("data"), BucketARN: pulumi.String("arn:aws:s3:::data"),
		KMSKeyARN: pulumi.String("arn:aws:kms:us-east-1:123456789012:key/k"),
	}
}

// run registers the component and returns its resources and the policy.
func run(t *testing.T, args *lake.Args) (rec *recorder.Recording, policy string) {
	t.Helper()
	rec, err := recorder.Run(func(ctx *pulumi.Context) error {
		p, err := aws.NewProvider(ctx, "aws", &aws.ProviderArgs{Region: pulumi.String("us-east-1")})
		if err != nil {
			return err
		}
		l, err := lake.New(ctx, "lake", args, pulumi.Providers(p))
		if err != nil {
			return err
		}
		_, err = iam.NewPolicy(ctx, "analysts", &iam.PolicyArgs{Policy: l.ReadPolicy, Description: l.Database}, pulumi.Provider(p))
		return err
	}, recorder.WithInvoke("aws:index/getCallerIdentity:getCallerIdentity", map[string]any{"accountId": "123456789012"}),
		recorder.WithInvoke("aws:index/getPartition:getPartition", map[string]any{"partition": "aws", "dnsSuffix": "amazonaws.com"}))
	require.NoError(t, err)
	attached, err := rec.One("aws:iam/policy:Policy", "analysts")
	require.NoError(t, err)
	require.Equal(t, lake.DatabaseName("team-a.dev"), attached.Inputs["description"].StringValue())
	return rec, attached.Inputs["policy"].StringValue()
}

func inputs(rec *recorder.Recording, token string) (all []map[string]any) {
	for _, r := range rec.Resources {
		if r.Type == token {
			all = append(all, r.Inputs.Mappable())
		}
	}
	return all
}

// Each table has the columns that the profiler writes, with their descriptions, and folders that Athena
// projects.
func TestTables(t *testing.T) {
	rec, _ := run(t, validArgs())
	require.Len(t, inputs(rec, databaseType), 1)
	made := inputs(rec, tableType)
	require.Len(t, made, len(tables.All()))
	byName := map[string]map[string]any{}
	for _, table := range made {
		byName[table["name"].(string)] = table
	}
	for _, d := range tables.All() {
		table := byName[string(d.Name)]
		storage := table["storageDescriptor"].(map[string]any)
		location := "s3://data/lake/history/compacted/" + string(d.Name) + "/"
		require.Equal(t, location, storage["location"])
		require.Equal(t, location+"dt=${dt}/", table["parameters"].(map[string]any)["storage.location.template"])
		require.Equal(t, "2019-06-01,NOW", table["parameters"].(map[string]any)["projection.dt.range"])
		var want []any
		for _, c := range d.Columns() {
			want = append(want, map[string]any{"name": c.Name, "type": c.CatalogType(), "comment": c.Doc})
		}
		require.Equal(t, want, storage["columns"])
		require.Equal(t, "dt", table["partitionKeys"].([]any)[0].(map[string]any)["name"])
	}
}

// A query cannot scan more than the limit, nor leave its results in clear or elsewhere.
func TestWorkgroup(t *testing.T) {
	rec, _ := run(t, validArgs())
	made := inputs(rec, workgroupType)
	require.Len(t, made, 1)
	require.Equal(t, "emr-observatory-team-a.dev", made[0]["name"])
	require.Equal(t, map[string]any{
		"bytesScannedCutoffPerQuery": 10.0 * (1 << 30), "enforceWorkgroupConfiguration": true, "publishCloudwatchMetricsEnabled": false,
		"resultConfiguration": map[string]any{
			"outputLocation":          "s3://data/athena/",
			"encryptionConfiguration": map[string]any{"encryptionOption": "SSE_KMS", "kmsKeyArn": "arn:aws:kms:us-east-1:123456789012:key/k"},
		},
	}, made[0]["configuration"])
}

// Who asks reads the history and nothing else of the bucket, writes results alone, and changes no table.
func TestReadPolicy(t *testing.T) {
	_, policy := run(t, validArgs())
	var d struct {
		Statement []struct {
			Sid              string
			Action, Resource []string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(policy), &d))
	var granted []string
	for _, s := range d.Statement {
		granted = append(granted, s.Action...)
		for _, resource := range s.Resource {
			require.True(t, resource != "*" || s.Sid == "Choose", s.Sid)
			if strings.HasPrefix(resource, "arn:aws:s3:::data/") {
				require.Contains(t, []string{"arn:aws:s3:::data/lake/history/*", "arn:aws:s3:::data/athena/*"}, resource, s.Sid)
			}
		}
		for _, action := range s.Action {
			service, call, _ := strings.Cut(action, ":")
			if service == "glue" {
				require.True(t, strings.HasPrefix(strings.TrimPrefix(call, "Batch"), "Get"), action)
			}
			if call == "PutObject" {
				require.Equal(t, []string{"arn:aws:s3:::data/athena/*"}, s.Resource)
			}
			require.NotContains(t, call, "Delete")
			require.NotContains(t, action, "*")
		}
	}
	// Athena User Guide, "Access to Athena and data": of a query, its catalog, its data and its results.
	require.Subset(t, granted, []string{
		"athena:StartQueryExecution", "athena:GetQueryExecution", "athena:GetQueryResults", "athena:GetWorkGroup", "glue:GetTable",
		"glue:GetDatabase", "glue:GetPartitions", "s3:GetObject", "s3:ListBucket", "s3:GetBucketLocation", "s3:PutObject",
		"s3:ListBucketMultipartUploads", "s3:ListMultipartUploadParts", "s3:AbortMultipartUpload", "kms:Decrypt", "kms:GenerateDataKey",
	})
}

// Two stacks of an account have two databases.
func TestDatabaseNames(t *testing.T) {
	names := map[string]bool{}
	for _, stack := range []string{"dev", "team-a.dev", "team-a-dev", "team_a_dev", "Team_a_dev"} {
		name := lake.DatabaseName(stack)
		require.Regexp(t, `^emr_observatory_[a-z0-9_]+$`, name)
		require.False(t, names[name], stack)
		names[name] = true
	}
	require.True(t, names["emr_observatory_dev"])
}

func TestArgs(t *testing.T) {
	require.EqualError(t, (*lake.Args)(nil).Validate(), "lake: arguments are nil; pass *lake.Args")
	err := (&lake.Args{Region: "nowhere"}).Validate()
	for _, path := range []string{"lake.region", "lake.stack", "lake.scanGiB"} {
		require.ErrorContains(t, err, path)
	}
}

// AWS' own model takes what the provider sends, and the Glue of moto then has each table.
func TestGlueTakesTheTables(t *testing.T) {
	rec, _ := run(t, validArgs())
	var created []map[string]any
	for _, table := range inputs(rec, tableType) {
		storage := capitalized(table["storageDescriptor"]).(map[string]any)
		rename(storage, "SerDeInfo", "SerdeInfo")
		created = append(created, map[string]any{"DatabaseName": "history", "TableInput": map[string]any{
			"Name": table["name"], "Description": table["description"], "TableType": table["tableType"], "Parameters": table["parameters"],
			"PartitionKeys": capitalized(table["partitionKeys"]), "StorageDescriptor": storage,
		}})
	}
	held := map[any]map[string]any{}
	for _, table := range inGlue(t, encoded(t, created)) {
		held[table["Name"]] = table
	}
	require.Len(t, held, len(tables.All()))
	for _, one := range created {
		want := one["TableInput"].(map[string]any)
		for field, value := range want {
			require.JSONEq(t, encoded(t, value), encoded(t, held[want["Name"]][field]), "%s of %s", field, want["Name"])
		}
	}
	configuration := capitalized(inputs(rec, workgroupType)[0]["configuration"]).(map[string]any)
	rename(configuration, "PublishCloudwatchMetricsEnabled", "PublishCloudWatchMetricsEnabled")
	rename(configuration, "EnforceWorkgroupConfiguration", "EnforceWorkGroupConfiguration")
	rename(configuration["ResultConfiguration"].(map[string]any)["EncryptionConfiguration"].(map[string]any), "KmsKeyArn", "KmsKey")
	testenv.RequireInputs(t, "athena", "CreateWorkGroup", encoded(t, map[string]any{"Name": "history", "Configuration": configuration}))
}

// inGlue returns what moto's Glue has after calls of CreateTable with these inputs, which botocore validates.
func inGlue(t *testing.T, inputs string) (held []map[string]any) {
	t.Helper()
	python := os.Getenv("OBSERVATORY_PYTHON")
	testenv.Require(t, python != "", "OBSERVATORY_PYTHON is not set: `make test` sets it to a Python with moto")
	command := exec.CommandContext(t.Context(), python, "testdata/glue.py")
	command.Stdin, command.Stderr = strings.NewReader(inputs), os.Stderr
	out, err := command.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &held))
	return held
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// rename is of a field that the provider names otherwise than AWS.
func rename(of map[string]any, from, to string) {
	of[to] = of[from]
	delete(of, from)
}

// capitalized names the fields of inputs as AWS' API does.
func capitalized(v any) any {
	switch of := v.(type) {
	case map[string]any:
		all := map[string]any{}
		for name, value := range of {
			all[strings.ToUpper(name[:1])+name[1:]] = capitalized(value)
		}
		return all
	case []any:
		all := make([]any, len(of))
		for i := range of {
			all[i] = capitalized(of[i])
		}
		return all
	case float64:
		if of == float64(int64(of)) {
			return int64(of)
		}
	}
	return v
}
