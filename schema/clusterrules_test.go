package schema_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

type clusterEdit = func(*schema.Cluster)

func all(edits ...clusterEdit) clusterEdit {
	return func(c *schema.Cluster) {
		for _, e := range edits {
			e(c)
		}
	}
}

func with(applications ...string) clusterEdit {
	return func(c *schema.Cluster) { c.Applications = append(c.Applications, applications...) }
}

func withoutSpark(applications ...string) clusterEdit {
	return func(c *schema.Cluster) {
		c.Observe, c.Applications = schema.ObserveHostsOnly, append([]string{"Hadoop"}, applications...)
	}
}

func threeMasters(c *schema.Cluster) { c.Master.Count = 3 }
func neverIdle(c *schema.Cluster)    { c.IdleTimeoutMinutes = 0 }

func setting(classification, property, value string) clusterEdit {
	return func(c *schema.Cluster) {
		c.Configurations = append(c.Configurations, schema.Configuration{Classification: classification,
			Properties: map[string]string{property: value}})
	}
}

func step(args ...string) clusterEdit {
	return func(c *schema.Cluster) { c.Steps = append(c.Steps, stepWith(args...)) }
}

func jar(uri string) clusterEdit {
	return func(c *schema.Cluster) {
		s := stepWith("x")
		s.Jar = uri
		c.Steps = append(c.Steps, s)
	}
}

func bootstrap(uri string, args ...string) clusterEdit {
	return func(c *schema.Cluster) {
		c.BootstrapActions = append(c.BootstrapActions, schema.BootstrapAction{Name: "x", Path: uri, Args: args})
	}
}

func runtimeRole(c *schema.Cluster) {
	c.RuntimeRoles.ARNs = []string{"arn:aws:iam::123456789012:role/sales"}
}

func kerberos(c *schema.Cluster) {
	c.Kerberos = &schema.Kerberos{}
	c.Kerberos.SetDefaults()
	c.Kerberos.PasswordParameter = "/observatory/kdc"
}

func arm(c *schema.Cluster) {
	c.ReleaseLabel, c.Master.InstanceType, c.Core.InstanceType = "emr-7.4.0", "m6g.xlarge", "m6g.xlarge"
}

// What EMR refuses or does in silence, by the paths below the cluster's.
func TestClustersThatEMRRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		edit            clusterEdit
		refused, warned []string
	}{
		"Presto and Trino": {edit: all(withoutSpark("Presto", "Trino"), neverIdle),
			refused: []string{"applications[1]", "applications[2]"}},
		"HBase, until idle":       {edit: with("HBase"), refused: []string{"idleTimeoutMinutes"}},
		"HBase for ever":          {edit: all(with("HBase"), neverIdle)},
		"Trino, until idle":       {edit: withoutSpark("Trino"), refused: []string{"idleTimeoutMinutes"}},
		"Phoenix, until idle":     {edit: with("Phoenix"), refused: []string{"idleTimeoutMinutes"}},
		"Presto with tickets":     {edit: all(with("Presto"), neverIdle, kerberos), refused: []string{"applications[2]"}},
		"Trino with tickets":      {edit: all(with("Trino"), neverIdle, kerberos), refused: []string{"applications[2]"}},
		"Flink with tickets":      {edit: all(with("Flink"), kerberos), warned: []string{"applications[2]"}},
		"TensorFlow on Graviton":  {edit: all(with("TensorFlow"), arm), refused: []string{"applications[2]"}},
		"TensorFlow there, later": {edit: all(with("TensorFlow"), arm, func(c *schema.Cluster) { c.ReleaseLabel = "emr-7.5.0" })},
		"at the paid hour": {edit: func(c *schema.Cluster) { c.ScaleDownBehavior = "TERMINATE_AT_INSTANCE_HOUR" },
			warned: []string{"scaleDownBehavior"}},
		"scaled without dynamic allocation": {edit: func(c *schema.Cluster) {
			c.ManagedScaling = &schema.ManagedScaling{Unit: schema.UnitInstances, Min: 1, Max: 20}
			c.SparkDefaults["spark.dynamicAllocation.enabled"] = "false"
		}, warned: []string{"sparkDefaults.spark.dynamicAllocation.enabled"}},
		"scaled, with a step without it": {edit: all(step("spark-submit", "--conf", "spark.dynamicAllocation.enabled=false", "x.py"),
			func(c *schema.Cluster) {
				c.ManagedScaling = &schema.ManagedScaling{Unit: schema.UnitInstances, Min: 1, Max: 20}
			}), warned: []string{"steps[0].args[2]"}},

		"three primary nodes with roles": {edit: all(threeMasters, runtimeRole), refused: []string{"runtimeRoles.arns"}},
		"roles beside CloudWatch": {edit: all(runtimeRole, with("AmazonCloudWatchAgent"),
			func(c *schema.Cluster) { c.ReleaseLabel = "emr-7.5.0" }), refused: []string{"runtimeRoles.arns"}},
		"roles beside a later one":         {edit: all(runtimeRole, with("AmazonCloudWatchAgent"))},
		"metastore of three primary nodes": {edit: all(threeMasters, with("Hive")), refused: []string{"applications[2]"}},
		"metastore in Glue":                {edit: all(threeMasters, with("Hive"), func(c *schema.Cluster) { c.GlueCatalog = true })},
		"metastore on MySQL": {edit: all(threeMasters, with("Hive"),
			setting("hive-site", "javax.jdo.option.ConnectionURL", "jdbc:mysql://db/hive"))},
		"metastore on PostgreSQL": {edit: all(threeMasters, with("Hive"),
			setting("hive-site", "javax.jdo.option.ConnectionURL", "jdbc:postgresql://db/hive")),
			refused: []string{"configurations[0].properties.javax.jdo.option.ConnectionURL"}},
		"driver of PostgreSQL": {edit: all(threeMasters, with("Hive"), func(c *schema.Cluster) { c.GlueCatalog = true },
			setting("hive-site", "javax.jdo.option.ConnectionDriverName", "org.postgresql.Driver")),
			refused: []string{"configurations[0].properties.javax.jdo.option.ConnectionDriverName"}},
		"PostgreSQL of one primary node": {edit: all(with("Hive"),
			setting("hive-site", "javax.jdo.option.ConnectionURL", "jdbc:postgresql://db/hive")),
			warned: []string{"configurations[0].properties.javax.jdo.option.ConnectionURL"}},
		"Hue and Oozie of three primary nodes": {edit: all(threeMasters, with("Hue", "Oozie")),
			refused: []string{"applications[2]", "applications[3]"}},
		"Oozie with a database": {edit: all(threeMasters, with("Oozie"),
			setting("oozie-site", "oozie.service.JPAService.jdbc.url", "jdbc:mysql://db/oozie"))},
		"Trino of three primary nodes": {edit: all(threeMasters, withoutSpark("Trino"), neverIdle,
			setting("trino-connector-hive", "hive.metastore", "glue"))},

		"Hive's command": {edit: step("hive-script", "--run-hive-script", "--args", "-f", "s3://bkt/q.hql"),
			refused: []string{"steps[0].args[0]"}},
		"Hive's command with Hive":   {edit: all(with("Hive"), step("hive", "-f", "s3://bkt/q.hql"))},
		"Hive's command with Presto": {edit: all(with("Presto"), neverIdle, step("hive-script"))},
		"Pig's command":              {edit: step("pig-script", "--run-pig-script"), refused: []string{"steps[0].args[0]"}},
		"Spark's command, by its path": {edit: all(withoutSpark(), step("/usr/bin/spark-submit", "s3://bkt/x.py")),
			refused: []string{"steps[0].args[0]"}},
		"HBase's command":             {edit: step("hbase", "shell"), refused: []string{"steps[0].args[0]"}},
		"Flink's command":             {edit: step("flink", "run"), refused: []string{"steps[0].args[0]"}},
		"Trino's command":             {edit: step("trino-cli"), refused: []string{"steps[0].args[0]"}},
		"a shell's command":           {edit: step("bash", "-c", "hive -f q.hql")},
		"a command in one argument":   {edit: step("spark-submit --deploy-mode cluster s3://bkt/x.py"), warned: []string{"steps[0].args[0]"}},
		"an option with its value":    {edit: step("spark-submit", "--deploy-mode cluster", "s3://x.py"), warned: []string{"steps[0].args[1]"}},
		"an application's own option": {edit: step("spark-submit", "--conf", "spark.app.x=a b", "s3://bkt/x.py", "--day 1")},

		"a step's boolean": {edit: step("spark-submit", "--conf", "spark.speculation=si", "s3://bkt/x.py"),
			refused: []string{"steps[0].args[2]"}},
		"a step's heap": {edit: step("spark-submit", "--executor-memory", "64g", "s3://bkt/x.py"),
			refused: []string{"steps[0].args[2]"}},
		"a step's heap, joined":  {edit: step("spark-submit", "--driver-memory=256m", "s3://bkt/x.py"), refused: []string{"steps[0].args[1]"}},
		"an argument of its own": {edit: step("spark-submit", "--verbose", "s3://bkt/x.py", "--executor-memory", "64g")},
		"a step's misspelt name": {edit: step("spark-submit", "-c",
			"spark.executor.core=4", "s3://bkt/x.py"), warned: []string{"steps[0].args[2]"}},
		"the cluster's own fault": {edit: all(step("spark-submit", "--conf", "spark.speculation=true", "x.py"),
			func(c *schema.Cluster) { c.SparkDefaults["spark.executor.cores"] = "0" }), refused: []string{"sparkDefaults.spark.executor.cores"}},

		"jar in no bucket":           {edit: jar("s3:///x.jar"), refused: []string{"steps[0].jar"}},
		"jar in a bucket of no name": {edit: jar("s3://Bad_Bucket!/x.jar"), refused: []string{"steps[0].jar"}},
		"jar that is a folder":       {edit: jar("s3://bkt/x/"), refused: []string{"steps[0].jar"}},
		"jar that is a bucket":       {edit: jar("s3://bkt/"), refused: []string{"steps[0].jar"}},
		"jar with a key":             {edit: jar("s3n://bkt/a/x.jar")},
		"prefix with credentials": {edit: func(c *schema.Cluster) { c.Access.S3Read = []string{"s3://x:hunter2@bkt/y/"} },
			refused: []string{"access.s3Read[0]"}},
		"jar with credentials": {edit: jar("s3n://AKIAIOSFODNN7EXAMPLE:hunter2@bkt/x.jar"),
			refused: []string{"steps[0].jar", "steps[0].jar"}},
		"script in no bucket":   {edit: bootstrap("s3://a./x.sh"), refused: []string{"bootstrapActions[0].path"}},
		"script at an address":  {edit: bootstrap("s3://10.0.0.1/x.sh"), refused: []string{"bootstrapActions[0].path"}},
		"bucket of an argument": {edit: step("spark-submit", "s3://my_bucket/x.py"), refused: []string{"steps[0].args[1]"}},
		"bucket in a command": {edit: bootstrap("s3://bkt/x.sh", "aws s3 cp s3://My/x ."),
			refused: []string{"bootstrapActions[0].args[0]"}},
		"bucket of a variable": {edit: bootstrap("s3://bkt/x.sh", "aws s3 cp s3://$B/x s3://bkt-s3alias/y")},
		"bucket of a property": {edit: func(c *schema.Cluster) { c.SparkDefaults["spark.jars"] = "s3://bkt/a.jar,s3://b..t/b.jar" },
			refused: []string{"sparkDefaults.spark.jars"}},
		"bucket of a classification": {edit: setting("hive-site", "hive.metastore.warehouse.dir", "s3://UPPER/x"),
			refused: []string{"configurations[0].properties.hive.metastore.warehouse.dir"}},
	} {
		t.Run(name, func(t *testing.T) {
			var cluster schema.Cluster
			cluster.SetDefaults()
			c.edit(&cluster)
			cfg := validConfig()
			cfg.Clusters["etl"] = cluster
			var l violation.List
			cfg.Check(&l)
			require.Equal(t, c.refused, below(violation.All(l.Err())), "%v", l.Err())
			require.Equal(t, c.warned, below(warnings(l, cluster.ReleaseLabel)))
			require.NotContains(t, fmt.Sprint(l.Err()), "hunter2")
		})
	}
}

// below returns the paths of what was found, below the cluster's own.
func below(found []violation.Violation) []string {
	var out []string
	for _, v := range found {
		out = append(out, v.Path[len("clusters.etl."):])
	}
	slices.Sort(out)
	return out
}

// Every place that names a bucket takes those that S3 can have (S3 User Guide, "General
// purpose bucket naming rules").
func TestNamesOfBuckets(t *testing.T) {
	for rule, uri := range map[string]string{
		"s3Prefix": "s3://%/x/", "eventLogPrefix": "s3://%/x/", "certificates": "s3://%/x.zip",
		"jar": "s3://%/x.jar", "actionPath": "s3://%/x.sh",
	} {
		r, ok := schema.RuleNamed(rule)
		require.True(t, ok, rule)
		before, after := uri[:len("s3://")], uri[len("s3://%"):]
		for _, name := range []string{"abc", "my-bucket", "my.bucket-1", "1bucket", "us-east-1.elasticmapreduce", "xn-bucket", "1.2.3"} {
			require.True(t, r.Holds(before+name+after), "%s refuses %s", rule, name)
		}
		for _, name := range []string{"", "ab", "a.", "my..bucket", "192.168.0.1", "My", "my_bucket", "-a-b", "abc-", "xn--abc", "sthree-abc",
			"amzn-s3-demo-bucket", "abc-s3alias", "abc--ol-s3", "abc.mrap", "abc--x-s3", "abc--table-s3",
			"a123456789b123456789c123456789d123456789e123456789f123456789g123"} {
			require.False(t, r.Holds(before+name+after), "%s accepts %s", rule, name)
		}
	}
	prefix, _ := schema.RuleNamed("s3Prefix")
	require.True(t, prefix.Holds("s3://bucket/my data/"), "blanks are legal in keys")
	secret, _ := schema.RuleNamed("secretArn")
	require.True(t, secret.Holds("arn:aws:secretsmanager:us-east-1:123456789012:secret:db/x-AbCdEf"))
	require.False(t, secret.Holds("arn:aws:secretsmanager:us-east-1:123456789012:secret:db"), "a policy matches nothing by it")
}

// Nodes may read what the cluster runs, and nothing beside it.
func TestProgramsOfClusters(t *testing.T) {
	var c schema.Cluster
	c.SetDefaults()
	require.Empty(t, c.Programs())
	all(bootstrap("s3://acme/drivers.sh", "s3://acme/data.csv"), bootstrap("file:///opt/x.sh"), jar("s3a://acme/load-1.2.jar"),
		jar("/opt/x.jar"),
		step("spark-submit", "--py-files", "s3://acme/a.zip,s3://acme/b.py", "--files", "s3://acme/app.conf",
			"--archives", "s3://acme/env.tar.gz#env",
			"s3://acme/job.py", "s3://acme/input/", "s3://acme/table"),
		step("hive-script", "--args", "-f", "s3://acme/q.hql"), step("spark-submit", "s3://shared/lib/job.py"), jar("s3://acme/*.jar"))(&c)
	c.Access.S3Read = []string{"s3://shared/lib/"}
	require.Equal(t, []string{"s3://acme/a.zip", "s3://acme/app.conf", "s3://acme/b.py", "s3://acme/drivers.sh", "s3://acme/env.tar.gz",
		"s3://acme/job.py", "s3://acme/load-1.2.jar", "s3://acme/q.hql"}, c.Programs())
}
