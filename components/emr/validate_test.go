package emr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/emr"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/schema"
)

func withCoreVolume(v schema.Volume) func(*emr.Args) {
	v.PerInstance = max(v.PerInstance, 1)
	return func(a *emr.Args) { a.Core.EBS = []schema.Volume{v} }
}

func withSparkProperty(k, v string) func(*emr.Args) {
	return func(a *emr.Args) { a.SparkDefaults = map[string]string{k: v} }
}

func withTaskGroup(g schema.InstanceGroup) func(*emr.Args) {
	return func(a *emr.Args) { a.Tasks = map[string]schema.InstanceGroup{"spot": g} }
}

func withAccess(edit func(*schema.Access)) func(*emr.Args) {
	return func(a *emr.Args) { edit(&a.Access) }
}

// numbered returns n texts of a format.
func numbered(n int, format string) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(format, i))
	}
	return out
}

func TestValidateAccepts(t *testing.T) {
	for name, edit := range map[string]func(*emr.Args){
		"as is":            func(*emr.Args) {},
		"oldest release":   func(a *emr.Args) { a.ReleaseLabel = "emr-6.15.0" },
		"newest release":   func(a *emr.Args) { a.ReleaseLabel = "emr-7.14.0" },
		"three masters":    func(a *emr.Args) { a.Master.Count = 3 },
		"shortest idle":    func(a *emr.Args) { a.IdleTimeoutMinutes = 1 },
		"longest idle":     func(a *emr.Args) { a.IdleTimeoutMinutes = 7 * 24 * 60 },
		"dash in family":   func(a *emr.Args) { a.Core.InstanceType = "m7i-flex.xlarge" },
		"gp3 without more": withCoreVolume(schema.Volume{Type: "gp3", SizeGiB: 10}),
		"gp3 throughput":   withCoreVolume(schema.Volume{Type: "gp3", SizeGiB: 100, IOPS: 4000, Throughput: 1000}),
		"gp3 base IOPS":    withCoreVolume(schema.Volume{Type: "gp3", SizeGiB: 100, Throughput: 750}),
		"io1":              withCoreVolume(schema.Volume{Type: "io1", SizeGiB: 100, IOPS: 5000}),
		"st1":              withCoreVolume(schema.Volume{Type: "st1", SizeGiB: 125}),
		"two sizes": func(a *emr.Args) {
			a.Core.EBS = []schema.Volume{{Type: "gp3", SizeGiB: 10, PerInstance: 12}, {Type: "gp3", SizeGiB: 20, PerInstance: 12}}
		},
		"task on spot":       withTaskGroup(schema.InstanceGroup{InstanceType: "m5.xlarge", Count: 1, BidPrice: "0.05"}),
		"master on spot":     func(a *emr.Args) { a.Ephemeral, a.Master.BidPrice = true, "0.1" },
		"protected":          func(a *emr.Args) { a.TerminationProtection = true },
		"extra java options": withSparkProperty("spark.executor.extraJavaOptions", "-Xss4m"),
		"what once was too much": withAccess(func(a *schema.Access) {
			a.Secrets = numbered(45, "arn:aws:secretsmanager:us-east-1:123456789012:secret:of/a/team/database-%02d-AbCdEf")
		}),
		"a token count": withSparkProperty("spark.sql.parser.maxTokens.count", "5"),
	} {
		t.Run(name, func(t *testing.T) {
			a := validArgs()
			edit(a)
			require.NoError(t, a.Validate())
		})
	}
}

func TestValidateRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*emr.Args)
		want string
	}{
		{"no region", func(a *emr.Args) { a.Region = "" }, `clusters.main.region: ""`},
		{"no release", func(a *emr.Args) { a.ReleaseLabel = "" }, `clusters.main.releaseLabel: ""`},
		{"bare version", func(a *emr.Args) { a.ReleaseLabel = "7.10.0" }, `clusters.main.releaseLabel: "7.10.0"`},
		{"old release", func(a *emr.Args) { a.ReleaseLabel = "emr-6.14.1" }, `clusters.main.releaseLabel: "emr-6.14.1"`},
		{"older major", func(a *emr.Args) { a.ReleaseLabel = "emr-5.36.0" }, `clusters.main.releaseLabel`},
		{"the Spark line", func(a *emr.Args) { a.ReleaseLabel = "emr-spark-8.0.0" }, `clusters.main.releaseLabel: "emr-spark-8.0.0"`},
		{"no Spark", func(a *emr.Args) { a.Applications = []string{"Hadoop"} }, `clusters.main.applications: ["Hadoop"]`},
		{"duplicate", func(a *emr.Args) { a.Applications = []string{"Spark", "Spark"} }, `clusters.main.applications[1]: "Spark"`},
		{"blank", func(a *emr.Args) { a.Applications = []string{"Spark", " "} }, `clusters.main.applications[1]`},
		{"two masters", func(a *emr.Args) { a.Master.Count = 2 }, `clusters.main.master.count: 2`},
		{"fewer than no core", func(a *emr.Args) { a.Core.Count = -1 }, `clusters.main.core.count: -1`},
		{"empty task group", withTaskGroup(schema.InstanceGroup{InstanceType: "m5.xlarge"}), `clusters.main.tasks.spot.count: 0`},
		{"no type", func(a *emr.Args) { a.Master.InstanceType = "" }, `clusters.main.master.instanceType: ""`},
		{"family only", func(a *emr.Args) { a.Core.InstanceType = "m5" }, `clusters.main.core.instanceType: "m5"`},
		{"metal", func(a *emr.Args) { a.Core.InstanceType = "m5d.metal" }, `core.instanceType: "m5d.metal" must be an instance type`},
		{"EC2's only", func(a *emr.Args) { a.Core.InstanceType = "r5.large" }, `use r5.xlarge, r5a.xlarge or r5ad.xlarge`},
		{"of a later release", func(a *emr.Args) { a.ReleaseLabel, a.Core.InstanceType = "emr-7.1.0", "g6.xlarge" }, `emr-7.2.0 does`},
		{"more volumes than the type has", func(a *emr.Args) {
			a.Core.InstanceType, a.Core.EBS = "d3.8xlarge", []schema.Volume{{Type: "gp3", SizeGiB: 10, PerInstance: 3}}
		}, `clusters.main.core.ebs: 3 must be 2 volumes at most on d3.8xlarge`},
		{"large executors", withSparkProperty("spark.executor.memory", "52g"), `must fit into what YARN has of r7g.2xlarge`},
		{"a release of tomorrow", func(a *emr.Args) { a.ReleaseLabel = "emr-8.0.0" }, `from emr-6.15.0 to emr-7.14.0`},
		{"upper case", func(a *emr.Args) { a.Core.InstanceType = "M5.xlarge" }, `clusters.main.core.instanceType`},
		{"master on spot", func(a *emr.Args) { a.Master.BidPrice = "0.1" }, `clusters.main.master.bidPrice: "0.1"`},
		{"free", func(a *emr.Args) { a.Core.BidPrice = "0.00" }, `clusters.main.core.bidPrice: "0.00"`},
		{"with currency", func(a *emr.Args) { a.Core.BidPrice = "$1" }, `clusters.main.core.bidPrice`},
		{"lower case", func(a *emr.Args) { a.Applications = []string{"Spark", "hadoop"} }, `clusters.main.applications[1]: "hadoop"`},
		{"of older releases", func(a *emr.Args) { a.Applications = []string{"Spark", "Sqoop"} }, `Sqoop ends with emr-7.4.0`},
		{"of later releases", func(a *emr.Args) {
			a.ReleaseLabel, a.Applications = "emr-6.15.0", []string{"Spark", "AmazonCloudWatchAgent"}
		}, `AmazonCloudWatchAgent begins with emr-7.0.0`},
		{"long idle", func(a *emr.Args) { a.IdleTimeoutMinutes = 7*24*60 + 1 }, `clusters.main.idleTimeoutMinutes: 10081`},
		{"negative idle", func(a *emr.Args) { a.IdleTimeoutMinutes = -60 }, `clusters.main.idleTimeoutMinutes: -60`},
		{"protected and ephemeral", func(a *emr.Args) { a.Ephemeral, a.TerminationProtection = true, true },
			`clusters.main.terminationProtection`},
		{"io2", withCoreVolume(schema.Volume{Type: "io2", SizeGiB: 100, IOPS: 5000}), `clusters.main.core.ebs[0].type: "io2"`},
		{"no size", withCoreVolume(schema.Volume{Type: "gp3"}), `clusters.main.core.ebs[0].sizeGiB: 0`},
		{"too large", withCoreVolume(schema.Volume{Type: "gp3", SizeGiB: 16385}), `clusters.main.core.ebs[0].sizeGiB`},
		{"small st1", withCoreVolume(schema.Volume{Type: "st1", SizeGiB: 124}), `clusters.main.core.ebs[0].sizeGiB: 124`},
		{"large standard", withCoreVolume(schema.Volume{Type: "standard", SizeGiB: 1025}), `clusters.main.core.ebs[0].sizeGiB`},
		{"few IOPS", withCoreVolume(schema.Volume{Type: "gp3", SizeGiB: 100, IOPS: 2999}), `clusters.main.core.ebs[0].iops: 2999`},
		{"many IOPS", withCoreVolume(schema.Volume{Type: "gp3", SizeGiB: 100, IOPS: 16001}), `clusters.main.core.ebs[0].iops`},
		{"IOPS for the size", withCoreVolume(schema.Volume{Type: "gp3", SizeGiB: 10, IOPS: 5001}), `at most 500 per GiB`},
		{"io1 for the size", withCoreVolume(schema.Volume{Type: "io1", SizeGiB: 10, IOPS: 501}), `at most 50 per GiB`},
		{"io1 without IOPS", withCoreVolume(schema.Volume{Type: "io1", SizeGiB: 10}), `clusters.main.core.ebs[0].iops: 0`},
		{"gp2 with IOPS", withCoreVolume(schema.Volume{Type: "gp2", SizeGiB: 10, IOPS: 3000}), `clusters.main.core.ebs[0].iops: 3000 must be 0`},
		{"low throughput", withCoreVolume(schema.Volume{Type: "gp3", SizeGiB: 10, Throughput: 124}), `clusters.main.core.ebs[0].throughput: 124`},
		{"high throughput", withCoreVolume(schema.Volume{Type: "gp3", SizeGiB: 10, Throughput: 1001}), `clusters.main.core.ebs[0].throughput`},
		{"throughput for the IOPS", withCoreVolume(schema.Volume{Type: "gp3", SizeGiB: 10, Throughput: 751}), `at most 1 per 4 IOPS`},
		{"gp2 with throughput", withCoreVolume(schema.Volume{Type: "gp2", SizeGiB: 10, Throughput: 200}),
			`clusters.main.core.ebs[0].throughput: 200 must be 0`},
		{"many volumes", withCoreVolume(schema.Volume{Type: "gp3", SizeGiB: 10, PerInstance: 25}), `clusters.main.core.ebs[0].perInstance: 25`},
		{"equal volumes", func(a *emr.Args) {
			a.Core.EBS = []schema.Volume{{Type: "gp3", SizeGiB: 10, PerInstance: 1}, {Type: "gp3", SizeGiB: 10, PerInstance: 2}}
		}, `clusters.main.core.ebs[1]`},
		{"many volumes in all", func(a *emr.Args) {
			a.Core.EBS = []schema.Volume{{Type: "gp3", SizeGiB: 10, PerInstance: 12}, {Type: "gp3", SizeGiB: 20, PerInstance: 13}}
		}, `clusters.main.core.ebs: 25 must be 24 volumes`},
		{"small type", func(a *emr.Args) { a.Core.InstanceType = "m1.medium" }, `clusters.main.core.instanceType: "m1.medium"`},
		{"task throughput", withTaskGroup(schema.InstanceGroup{InstanceType: "m5.xlarge", Count: 1,
			EBS: []schema.Volume{{Type: "gp3", SizeGiB: 100, Throughput: 200, PerInstance: 1}}}), `clusters.main.tasks.spot.ebs[0].throughput: 200`},
		{"not Spark's", withSparkProperty("hadoop.x", "y"), `clusters.main.sparkDefaults.hadoop.x: "y"`},
		{"two lines", withSparkProperty("spark.x", "a\nb"), `clusters.main.sparkDefaults.spark.x`},
		{"driver options without the agent", withSparkProperty("spark.driver.defaultJavaOptions", "-Xss4m"), `use spark.driver.extraJavaOptions`},
		{"another jar", withSparkProperty("spark.executor.defaultJavaOptions", "-javaagent:/opt/observatory/launcher.jar.old"),
			`use spark.executor.extraJavaOptions`},
		{"more databases than IAM takes", withAccess(func(a *schema.Access) { a.GlueDatabases = numbered(60, "db%02d") }),
			`clusters.main.access.glueDatabases: 60 must leave the policy of the nodes 10240 characters`},
		{"more buckets than IAM takes", withAccess(func(a *schema.Access) { a.S3Read = numbered(40, "s3://bkt%02d/") }),
			`clusters.main.access.s3Read: 40 must leave the policy`},
		{"more writable buckets than IAM takes", withAccess(func(a *schema.Access) {
			a.S3Write, a.GlueDatabases = numbered(30, "s3://bkt%02d/"), []string{"a"}
		}), `clusters.main.access.s3Write: 30 must leave the policy`},
		{"more keys than IAM takes", withAccess(func(a *schema.Access) {
			a.KMSKeys = numbered(110, "arn:aws:kms:us-east-1:123456789012:key/01234567-0123-0123-0123-0123456789%02x")
		}), `clusters.main.access.kmsKeys: 110 must leave the policy`},
		{"more roles than IAM takes", func(a *emr.Args) {
			a.RuntimeRoles.ARNs = numbered(160, "arn:aws:iam::123456789012:role/a-job-of-a-team-%03d")
		}, `clusters.main.runtimeRoles.arns: 160 must leave the policy`},
		{"no subnet", func(a *emr.Args) { a.SubnetIDs = nil }, `clusters.main.subnetIds`},
		{"no bootstrap", func(a *emr.Args) { a.BootstrapArgs = nil }, `clusters.main.bootstrapArgs`},
		{"no key", func(a *emr.Args) { a.KMSKeyARN = nil }, `clusters.main.kmsKeyArn`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := validArgs()
			c.edit(a)
			require.ErrorContains(t, a.Validate(), c.want)
			rec, err := recorder.Run(program(a), recorderOptions("aws", "amazonaws.com")...)
			require.ErrorContains(t, err, c.want, "New refuses what Validate refuses")
			require.Equal(t, []string{"pulumi:providers:aws main"}, rec.List())
		})
	}
}

func TestRefusesSecretsWithoutShowingThem(t *testing.T) {
	a := validArgs()
	a.SparkDefaults = map[string]string{"spark.hadoop.fs.s3a.secret.key": "hunter2", "spark.jdbc.password": "hunter2"}
	err := a.Validate()
	require.ErrorContains(t, err, "clusters.main.sparkDefaults.spark.hadoop.fs.s3a.secret.key")
	require.ErrorContains(t, err, "clusters.main.sparkDefaults.spark.jdbc.password")
	require.NotContains(t, err.Error(), "hunter2")
}

func TestValidateReportsAllViolationsAtOnce(t *testing.T) {
	err := (&emr.Args{Key: "main", Cluster: schema.Cluster{Master: schema.InstanceGroup{BidPrice: "x"}}}).Validate()
	lines := strings.Split(err.Error(), "\n")
	for _, path := range []string{"region", "releaseLabel", "applications", "master.instanceType", "master.count", "master.bidPrice",
		"core.instanceType", "observe", "scaleDownBehavior", "stepConcurrency", "keepAlive",
		"name", "vpcId", "subnetIds", "s3PrefixListId", "observedSecurityGroupId",
		"bucket", "bucketArn", "kmsKeyArn", "bootstrapPath", "bootstrapArgs"} {
		require.ErrorContains(t, err, "clusters.main."+path+": ")
	}
	require.GreaterOrEqual(t, len(lines), 17)
	for _, line := range lines {
		require.Regexp(t, `^clusters\.main\.\S+: .+; .+$`, line, "path, value, rule and remedy")
	}
	require.Error(t, (*emr.Args)(nil).Validate())
}
