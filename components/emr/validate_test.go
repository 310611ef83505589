package emr_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/emr"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
)

func core(v emr.Volume) func(*emr.Args) {
	return func(a *emr.Args) { a.Core.EBS = []emr.Volume{v} }
}

func spark(k, v string) func(*emr.Args) {
	return func(a *emr.Args) { a.SparkDefaults = map[string]string{k: v} }
}

func task(g emr.InstanceGroup) func(*emr.Args) { return func(a *emr.Args) { a.Task = &g } }

func TestValidateAdmits(t *testing.T) {
	for name, edit := range map[string]func(*emr.Args){
		"as is":              func(*emr.Args) {},
		"oldest release":     func(a *emr.Args) { a.ReleaseLabel = "emr-6.2.0" },
		"a later major":      func(a *emr.Args) { a.ReleaseLabel = "emr-8.0.0" },
		"three masters":      func(a *emr.Args) { a.Master.Count = 3 },
		"spark in lower":     func(a *emr.Args) { a.Applications = []string{"spark"} },
		"shortest idle":      func(a *emr.Args) { a.IdleTimeout = time.Minute },
		"longest idle":       func(a *emr.Args) { a.IdleTimeout = 168 * time.Hour },
		"metal":              func(a *emr.Args) { a.Core.InstanceType = "m5d.metal" },
		"dashes in family":   func(a *emr.Args) { a.Core.InstanceType = "u-6tb1.56xlarge" },
		"gp3 without more":   core(emr.Volume{Type: "gp3", SizeGiB: 10}),
		"gp3 throughput":     core(emr.Volume{Type: "gp3", SizeGiB: 100, IOPS: 4000, Throughput: 1000}),
		"gp3 base IOPS":      core(emr.Volume{Type: "gp3", SizeGiB: 100, Throughput: 750}),
		"io1":                core(emr.Volume{Type: "io1", SizeGiB: 100, IOPS: 5000}),
		"st1":                core(emr.Volume{Type: "st1", SizeGiB: 125}),
		"two sizes":          func(a *emr.Args) { a.Core.EBS = []emr.Volume{{Type: "gp3", SizeGiB: 10}, {Type: "gp3", SizeGiB: 20}} },
		"task on spot":       task(emr.InstanceGroup{InstanceType: "m5.xlarge", Count: 1, BidPrice: "0.05"}),
		"master on spot":     func(a *emr.Args) { a.Ephemeral, a.Master.BidPrice = true, "0.1" },
		"protected":          func(a *emr.Args) { a.TerminationProtection = true },
		"extra java options": spark("spark.executor.extraJavaOptions", "-Xss4m"),
		"a token count":      spark("spark.sql.parser.maxTokens.count", "5"),
	} {
		t.Run(name, func(t *testing.T) {
			a := valid()
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
		{"no region", func(a *emr.Args) { a.Region = "" }, `emr.region: ""`},
		{"no release", func(a *emr.Args) { a.ReleaseLabel = "" }, `emr.releaseLabel: ""`},
		{"bare version", func(a *emr.Args) { a.ReleaseLabel = "7.10.0" }, `emr.releaseLabel: "7.10.0"`},
		{"old release", func(a *emr.Args) { a.ReleaseLabel = "emr-6.1.1" }, `emr.releaseLabel: "emr-6.1.1"`},
		{"older major", func(a *emr.Args) { a.ReleaseLabel = "emr-5.36.0" }, `emr.releaseLabel`},
		{"the Spark line", func(a *emr.Args) { a.ReleaseLabel = "emr-spark-8.0.0" }, `emr.releaseLabel: "emr-spark-8.0.0"`},
		{"no Spark", func(a *emr.Args) { a.Applications = []string{"Hadoop"} }, `emr.applications: ["Hadoop"]`},
		{"twice", func(a *emr.Args) { a.Applications = []string{"Spark", "SPARK"} }, `emr.applications[1]: "SPARK"`},
		{"blank", func(a *emr.Args) { a.Applications = []string{"Spark", " "} }, `emr.applications[1]`},
		{"two masters", func(a *emr.Args) { a.Master.Count = 2 }, `emr.master.count: 2`},
		{"no core", func(a *emr.Args) { a.Core.Count = 0 }, `emr.core.count: 0`},
		{"empty task group", task(emr.InstanceGroup{InstanceType: "m5.xlarge"}), `emr.task.count: 0`},
		{"no type", func(a *emr.Args) { a.Master.InstanceType = "" }, `emr.master.instanceType: ""`},
		{"family only", func(a *emr.Args) { a.Core.InstanceType = "m5" }, `emr.core.instanceType: "m5"`},
		{"upper case", func(a *emr.Args) { a.Core.InstanceType = "M5.xlarge" }, `emr.core.instanceType`},
		{"master on spot", func(a *emr.Args) { a.Master.BidPrice = "0.1" }, `emr.master.bidPrice: "0.1"`},
		{"free", func(a *emr.Args) { a.Core.BidPrice = "0.00" }, `emr.core.bidPrice: "0.00"`},
		{"with currency", func(a *emr.Args) { a.Core.BidPrice = "$1" }, `emr.core.bidPrice`},
		{"idle in milliseconds", func(a *emr.Args) { a.IdleTimeout = 60500 * time.Millisecond }, `emr.idleTimeout: "1m0.5s"`},
		{"short idle", func(a *emr.Args) { a.IdleTimeout = 59 * time.Second }, `emr.idleTimeout`},
		{"long idle", func(a *emr.Args) { a.IdleTimeout = 169 * time.Hour }, `emr.idleTimeout`},
		{"negative idle", func(a *emr.Args) { a.IdleTimeout = -time.Hour }, `emr.idleTimeout`},
		{"protected and ephemeral", func(a *emr.Args) { a.Ephemeral, a.TerminationProtection = true, true }, `emr.terminationProtection`},
		{"io2", core(emr.Volume{Type: "io2", SizeGiB: 100, IOPS: 5000}), `emr.core.ebs[0].type: "io2"`},
		{"no size", core(emr.Volume{Type: "gp3"}), `emr.core.ebs[0].sizeGiB: 0`},
		{"too large", core(emr.Volume{Type: "gp3", SizeGiB: 16385}), `emr.core.ebs[0].sizeGiB`},
		{"small st1", core(emr.Volume{Type: "st1", SizeGiB: 124}), `emr.core.ebs[0].sizeGiB: 124`},
		{"large standard", core(emr.Volume{Type: "standard", SizeGiB: 1025}), `emr.core.ebs[0].sizeGiB`},
		{"few IOPS", core(emr.Volume{Type: "gp3", SizeGiB: 100, IOPS: 2999}), `emr.core.ebs[0].iops: 2999`},
		{"many IOPS", core(emr.Volume{Type: "gp3", SizeGiB: 100, IOPS: 16001}), `emr.core.ebs[0].iops`},
		{"IOPS for the size", core(emr.Volume{Type: "gp3", SizeGiB: 10, IOPS: 5001}), `at most 500 for each GiB`},
		{"io1 for the size", core(emr.Volume{Type: "io1", SizeGiB: 10, IOPS: 501}), `at most 50 for each GiB`},
		{"io1 without IOPS", core(emr.Volume{Type: "io1", SizeGiB: 10}), `must be given for io1`},
		{"gp2 with IOPS", core(emr.Volume{Type: "gp2", SizeGiB: 10, IOPS: 3000}), `emr.core.ebs[0].iops: 3000 must be 0`},
		{"low throughput", core(emr.Volume{Type: "gp3", SizeGiB: 10, Throughput: 124}), `emr.core.ebs[0].throughput: 124`},
		{"high throughput", core(emr.Volume{Type: "gp3", SizeGiB: 10, Throughput: 1001}), `emr.core.ebs[0].throughput`},
		{"throughput for the IOPS", core(emr.Volume{Type: "gp3", SizeGiB: 10, Throughput: 751}), `a quarter of the IOPS`},
		{"gp2 with throughput", core(emr.Volume{Type: "gp2", SizeGiB: 10, Throughput: 200}), `emr.core.ebs[0].throughput: 200 must be 0`},
		{"many volumes", core(emr.Volume{Type: "gp3", SizeGiB: 10, PerInstance: 25}), `emr.core.ebs[0].perInstance: 25`},
		{"equal volumes", func(a *emr.Args) {
			a.Core.EBS = []emr.Volume{{Type: "gp3", SizeGiB: 10}, {Type: "gp3", SizeGiB: 10, PerInstance: 2}}
		}, `emr.core.ebs[1]`},
		{"task throughput", task(emr.InstanceGroup{InstanceType: "m5.xlarge", Count: 1, EBS: []emr.Volume{{Type: "gp3", SizeGiB: 100, Throughput: 200}}}), `emr.task.ebs[0].throughput: 200`},
		{"not Spark's", spark("hadoop.x", "y"), `emr.sparkDefaults.hadoop.x: "y"`},
		{"two lines", spark("spark.x", "a\nb"), `emr.sparkDefaults.spark.x`},
		{"a drop of the driver's agent", spark("spark.driver.defaultJavaOptions", "-Xss4m"), `use spark.driver.extraJavaOptions`},
		{"another jar", spark("spark.executor.defaultJavaOptions", "-javaagent:/opt/observatory/launcher.jar.old"), `use spark.executor.extraJavaOptions`},
		{"no subnet", func(a *emr.Args) { a.SubnetID = nil }, `emr.subnetId`},
		{"no bootstrap", func(a *emr.Args) { a.BootstrapArgs = nil }, `emr.bootstrapArgs`},
		{"no key", func(a *emr.Args) { a.KMSKeyARN = nil }, `emr.kmsKeyArn`},
		{"tag of the platform", func(a *emr.Args) { a.Tags = map[string]string{"for-use-with-amazon-emr-managed-policies": "false"} }, `emr.tags.for-use-with`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := valid()
			c.edit(a)
			require.ErrorContains(t, a.Validate(), c.want)
			rec, err := recorder.Run(program(a), options("aws", "amazonaws.com")...)
			require.ErrorContains(t, err, c.want, "New refuses what Validate refuses")
			require.Equal(t, []string{"pulumi:providers:aws main"}, rec.List())
		})
	}
}

func TestSecretsAreRefusedAndNotRepeated(t *testing.T) {
	a := valid()
	a.SparkDefaults = map[string]string{"spark.hadoop.fs.s3a.secret.key": "hunter2", "spark.jdbc.password": "hunter2"}
	err := a.Validate()
	require.ErrorContains(t, err, "emr.sparkDefaults.spark.hadoop.fs.s3a.secret.key")
	require.ErrorContains(t, err, "emr.sparkDefaults.spark.jdbc.password")
	require.NotContains(t, err.Error(), "hunter2")
}

func TestValidateTellsAllFaultsAtOnce(t *testing.T) {
	err := (&emr.Args{Master: emr.InstanceGroup{BidPrice: "x"}}).Validate()
	faults := strings.Split(err.Error(), "\n")
	for _, path := range []string{"region", "releaseLabel", "applications", "master.instanceType", "master.count", "master.bidPrice", "core.instanceType", "core.count",
		"subnetId", "masterSecurityGroupId", "coreSecurityGroupId", "serviceAccessSecurityGroupId", "bucket", "bucketArn", "kmsKeyArn", "bootstrapPath", "bootstrapArgs"} {
		require.ErrorContains(t, err, "emr."+path+": ")
	}
	require.GreaterOrEqual(t, len(faults), 17)
	for _, f := range faults {
		require.Regexp(t, `^emr\.\S+: .+; .+$`, f, "path, value, rule and remedy")
	}
	require.Error(t, (*emr.Args)(nil).Validate())
}
