package schema_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// factCase is one check, and what it finds: violations and warnings, as shown.
type factCase struct {
	name         string
	check        func(*violation.List)
	refused, but []string
}

func runFactCases(t *testing.T, cases []factCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var l violation.List
			c.check(&l)
			require.Equal(t, c.refused, texts(violation.All(l.Err())), "violations")
			require.Equal(t, c.but, texts(l.Warnings()), "warnings")
		})
	}
}

func texts(found []violation.Violation) []string {
	var out []string
	for _, v := range found {
		out = append(out, v.Error())
	}
	return out
}

func TestInstanceTypeByRelease(t *testing.T) {
	of := func(name, release string) func(*violation.List) {
		return func(l *violation.List) { schema.CheckInstanceType(l, "core.instanceType", name, release) }
	}
	runFactCases(t, []factCase{
		{"taken", of("r5.xlarge", "emr-6.15.0"), nil, nil},
		{"the user's document", of("r5.large", "emr-7.10.0"), []string{
			`core.instanceType: "r5.large" must be an instance type that emr-7.10.0 takes; use r5.xlarge, r5a.xlarge or r5ad.xlarge`,
		}, nil},
		{"newer than the release", of("g6.xlarge", "emr-7.1.0"), []string{
			`core.instanceType: "g6.xlarge" must be an instance type that emr-7.1.0 takes; ` +
				`use g5.xlarge, g4dn.xlarge or g3.4xlarge, or a release that takes it: emr-7.2.0 does`,
		}, nil},
		{"a gap", of("c8gn.xlarge", "emr-7.5.0"), []string{
			`core.instanceType: "c8gn.xlarge" must be an instance type that emr-7.5.0 takes; ` +
				`use c8g.xlarge, c8gd.xlarge or c7gn.xlarge, or a release that takes it: emr-6.15.0 does`,
		}, nil},
		{"no such family", of("t3.large", "emr-7.10.0"), []string{
			`core.instanceType: "t3.large" must be an instance type that emr-7.10.0 takes; use m5.xlarge, m5a.xlarge or m5ad.xlarge`,
		}, nil},
		{"name that is none", of("large", "emr-7.10.0"), nil, nil},
		{"release that another rule refuses", of("r5.large", "emr-5.0.0"), []string{
			`core.instanceType: "r5.large" must be an instance type that emr-7.14.0 takes; use r5.xlarge, r5a.xlarge or r5ad.xlarge`,
		}, nil},
	})
}

func TestVolumesByInstanceType(t *testing.T) {
	of := func(name string, volumes ...schema.Volume) func(*violation.List) {
		return func(l *violation.List) { schema.CheckVolumeLimits(l, "core.ebs", name, volumes) }
	}
	gp3 := func(count, iops, throughput int) schema.Volume {
		return schema.Volume{Type: "gp3", SizeGiB: 100, PerInstance: count, IOPS: iops, Throughput: throughput}
	}
	runFactCases(t, []factCase{
		{"all that fit", of("d3.8xlarge", gp3(2, 0, 0)), nil, nil},
		{"more than EC2 attaches", of("d3.8xlarge", gp3(2, 0, 0), gp3(1, 0, 0)), []string{
			"core.ebs: 3 must be 2 volumes at most on d3.8xlarge, beside the root volume; use fewer, larger volumes",
		}, nil},
		{"more IOPS than the type has", of("m5.xlarge", gp3(2, 10000, 0)), nil, []string{
			"core.ebs: 20000 should be 18750 IOPS at most on m5.xlarge, which its volumes have together; ask for less, or use a larger type",
		}},
		{"more throughput than the type has", of("m5.xlarge", gp3(2, 0, 500)), nil, []string{
			"core.ebs: 1000 should be 566 MiB/s at most on m5.xlarge, which its volumes have together; ask for less, or use a larger type",
		}},
		{"larger than EMR documents", func(l *violation.List) {
			schema.Volume{Type: "gp3", SizeGiB: 1025, PerInstance: 1}.Validate(l, "core.ebs[0]")
		}, nil, []string{
			"core.ebs[0].sizeGiB: 1025 should be 1024 GiB at most, the limit that EMR's API documents: " +
				"accounts differ in what they accept beyond; use several volumes, with perInstance",
		}},
		{"as large as EMR documents", func(l *violation.List) {
			schema.Volume{Type: "gp3", SizeGiB: 1024, PerInstance: 1}.Validate(l, "core.ebs[0]")
		}, nil, nil},
		{"type that EC2 answers no more for", of("p2.xlarge", gp3(24, 0, 0)), nil, nil},
	})
}

func TestReleaseHasSupport(t *testing.T) {
	on := func(label, day string) func(*violation.List) {
		now, err := time.Parse(time.DateOnly, day)
		require.NoError(t, err)
		return func(l *violation.List) { schema.CheckSupport(l, "releaseLabel", label, now) }
	}
	runFactCases(t, []factCase{
		{"last day", on("emr-7.10.0", "2027-08-15"), nil, nil},
		{"day after", on("emr-7.10.0", "2027-08-16"), nil, []string{
			`releaseLabel: "emr-7.10.0" should be a release with support, which this one has not had since 2027-08-16; ` +
				`from 2028-08-15 on EMR may remove it; use emr-7.14.0`,
		}},
		{"oldest", on("emr-6.15.0", "2026-11-23"), nil, []string{
			`releaseLabel: "emr-6.15.0" should be a release with support, which this one has not had since 2026-09-01; ` +
				`from 2027-09-01 on EMR may remove it; use emr-7.14.0`,
		}},
		{"unknown", on("emr-8.0.0", "2030-01-01"), nil, nil},
	})
}

func TestReleaseHasApplication(t *testing.T) {
	of := func(name, release string) func(*violation.List) {
		return func(l *violation.List) { schema.CheckApplication(l, "applications[0]", name, release) }
	}
	runFactCases(t, []factCase{
		{"has it", of("Sqoop", "emr-7.4.0"), nil, nil},
		{"had it", of("Sqoop", "emr-7.5.0"), []string{
			`applications[0]: "Sqoop" must be an application of emr-7.5.0: Sqoop ends with emr-7.4.0; remove it, or choose another release`,
		}, nil},
		{"will have it", of("AmazonCloudWatchAgent", "emr-6.15.0"), []string{
			`applications[0]: "AmazonCloudWatchAgent" must be an application of emr-6.15.0: AmazonCloudWatchAgent begins with emr-7.0.0; ` +
				`remove it, or choose another release`,
		}, nil},
		{"had it in the oldest", of("Ganglia", "emr-7.0.0"), []string{
			`applications[0]: "Ganglia" must be an application of emr-7.0.0: Ganglia ends with emr-6.15.0; remove it, or choose another release`,
		}, nil},
	})
}

func TestMisspeltProperties(t *testing.T) {
	of := func(classification, property string) func(*violation.List) {
		return func(l *violation.List) {
			schema.CheckPropertyNames(l, schema.Settings(map[string]map[string]string{classification: {property: "x"}}))
		}
	}
	warning := func(classification, property, near string) []string {
		return []string{classification + "." + property + ": [hidden] should have a name that the application knows: it ignores " + property +
			"; if " + near + " is meant, write that"}
	}
	runFactCases(t, []factCase{
		{"known", of("spark-defaults", "spark.sql.shuffle.partitions"), nil, nil},
		{"a letter", of("spark-defaults", "spark.sql.shuffle.partition"), nil,
			warning("spark-defaults", "spark.sql.shuffle.partition", "spark.sql.shuffle.partitions")},
		{"case", of("spark-defaults", "spark.executor.memoryoverhead"), nil,
			warning("spark-defaults", "spark.executor.memoryoverhead", "spark.executor.memoryOverhead")},
		{"separators", of("yarn-site", "yarn.nodemanager.resource.memory.mb"), nil,
			warning("yarn-site", "yarn.nodemanager.resource.memory.mb", "yarn.nodemanager.resource.memory-mb")},
		{"many separators", of("yarn-site", "yarn_nodemanager_resource_memory_mb"), nil,
			warning("yarn-site", "yarn_nodemanager_resource_memory_mb", "yarn.nodemanager.resource.memory-mb")},
		{"HDFS", of("hdfs-site", "dfs.replicaton"), nil, warning("hdfs-site", "dfs.replicaton", "dfs.replication")},
		{"older name of HDFS", of("hdfs-site", "dfs.block.size"), nil, nil},
		{"core", of("core-site", "fs.defaultFs"), nil, warning("core-site", "fs.defaultFs", "fs.defaultFS")},
		{"MapReduce", of("mapred-site", "mapreduce.map.memory.m"), nil,
			warning("mapred-site", "mapreduce.map.memory.m", "mapreduce.map.memory.mb")},
		{"Hive", of("hive-site", "hive.metastore.uri"), nil, warning("hive-site", "hive.metastore.uri", "hive.metastore.uris")},
		{"Hive's in Spark", of("spark-hive-site", "hive.metastore.uri"), nil,
			warning("spark-hive-site", "hive.metastore.uri", "hive.metastore.uris")},
		{"a job's own", of("spark-defaults", "spark.orders.table"), nil, nil},
		{"an open name", of("spark-defaults", "spark.hadoop.fs.s3a.endpont"), nil, nil},
		{"EMR's own", of("spark-defaults", "spark.yarn.executor.memoryOverheadFactor"), nil, nil},
		{"classification without a list", of("presto-config", "query.max-memry"), nil, nil},
	})
}

func TestMisspeltClassifications(t *testing.T) {
	of := func(name string) func(*violation.List) {
		return func(l *violation.List) {
			schema.CheckClassificationNames(l, "configurations", []schema.Configuration{{Classification: name}})
		}
	}
	warning := func(name, near string) []string {
		return []string{`configurations[0].classification: "` + name + `" should be a classification that EMR has: it refuses others when the ` +
			"cluster starts; if " + near + " is meant, write that"}
	}
	runFactCases(t, []factCase{
		{"known", of("capacity-scheduler"), nil, nil},
		{"of releases since 7.13", of("cloudwatch-logs"), nil, nil},
		{"of releases before 6.15", of("spark-log4j"), nil, warning("spark-log4j", "spark-log4j2")},
		{"a letter", of("yarn-sites"), nil, warning("yarn-sites", "yarn-site")},
		{"case", of("Core-Site"), nil, warning("Core-Site", "core-site")},
		{"separators", of("hive_site"), nil, warning("hive_site", "hive-site")},
		{"another one", of("ozone-site"), nil, nil},
		{"log4j2 in place of log4j", of("oozie-log4j2"), nil, nil},
	})
}

// EMR's API has numbers of 32 bits: a larger one turned negative.
func TestNumbersFitEMRsAPI(t *testing.T) {
	const most = 1<<31 - 1
	var cluster schema.Cluster
	cluster.SetDefaults()
	var out, in schema.ScalingRule
	out.SetDefaults()
	out.Name, out.Metric, out.Comparison, out.Adjustment = "out", "AppsPending", "GREATER_THAN", most+1
	in.SetDefaults()
	in.Name, in.Metric, in.Comparison, in.Adjustment = "in", "AppsPending", "LESS_THAN", -1
	cluster.Core.AutoScaling = &schema.AutoScaling{Min: 1, Max: most + 1, Rules: []schema.ScalingRule{out, in}}
	cfg := validConfig()
	cfg.Clusters["etl"] = cluster
	err := cfg.Validate()
	require.ErrorContains(t, err, "clusters.etl.core.autoScaling.max: 2147483648 must be at most")
	require.ErrorContains(t, err, "clusters.etl.core.autoScaling.rules[0].adjustment: 2147483648 must be at most")
	cluster.Core.AutoScaling, cluster.ManagedScaling = nil, &schema.ManagedScaling{Unit: schema.UnitVCPU, Min: 1, Max: most + 1}
	cfg.Clusters["etl"] = cluster
	require.ErrorContains(t, cfg.Validate(), "clusters.etl.managedScaling.max: 2147483648 must be at most")
}

// Beside rules that add and remove nodes, one that sets their number may do either.
func TestScalingRulesOfBothKinds(t *testing.T) {
	var cluster schema.Cluster
	cluster.SetDefaults()
	cluster.Core.Count = 2
	cluster.Core.AutoScaling = &schema.AutoScaling{Min: 1, Max: 10}
	for _, r := range []struct {
		name, comparison, kind string
		threshold              float64
		adjustment             int
	}{
		{"out", "LESS_THAN", "CHANGE_IN_CAPACITY", 30, 1}, {"in", "GREATER_THAN", "CHANGE_IN_CAPACITY", 75, -1},
		{"five", "LESS_THAN", "EXACT_CAPACITY", 15, 5}, {"eight", "LESS_THAN", "EXACT_CAPACITY", 5, 8},
	} {
		var rule schema.ScalingRule
		rule.SetDefaults()
		rule.Name, rule.Metric, rule.Comparison = r.name, "YARNMemoryAvailablePercentage", r.comparison
		rule.AdjustmentType, rule.Threshold, rule.Adjustment = r.kind, r.threshold, r.adjustment
		cluster.Core.AutoScaling.Rules = append(cluster.Core.AutoScaling.Rules, rule)
	}
	cfg := validConfig()
	cfg.Clusters["etl"] = cluster
	require.NoError(t, cfg.Validate())
}
